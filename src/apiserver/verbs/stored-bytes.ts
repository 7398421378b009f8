import { cloneJson, type JsonObject } from '../../kube/json.js';
import { keepUnknownFields } from '../registry/unknown-kept.js';
import { isAllKnown } from '../schema/unknown-fields.js';
import { type EncodedObject, encodeStored, type StoredObject } from '../watch/stored-object.js';
import type { ApiCall } from './api-call.js';

/**
 * Encodes an object for the store: in the storage version, and with the fields of the stored object
 * `before` that newer servers wrote and this version does not know.
 */
export async function storedBytes(call: ApiCall, object: JsonObject, before?: StoredObject): Promise<EncodedObject> {
  const converted = await inStoredVersion(call, object);
  return encodeStored(before ? withUnknownOf(before, converted, call) : converted);
}

async function inStoredVersion({ type }: ApiCall, object: JsonObject): Promise<JsonObject> {
  if (type.conversion.isTrivial) return { ...object, apiVersion: type.storage.apiVersion };
  const [stored] = await type.conversion.toStored([cloneJson(object)]);
  return stored!;
}

function withUnknownOf(before: StoredObject, object: JsonObject, { type }: ApiCall): JsonObject {
  if (type.origin === 'custom') return object;
  return isAllKnown(before.object, type.schema) ? object : keepUnknownFields(object, before.object, type.schema);
}

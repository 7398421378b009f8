import { cloneJson, type JsonObject } from '../../api/json.js';
import { keepUnknownFields } from '../registry/unknown-kept.js';
import { pruneUnknownFields } from '../schema/unknown-fields.js';
import { encodeStored, type StoredObject } from '../watch/stored-object.js';
import type { ApiCall } from './api-call.js';

/**
 * An object as it is stored: in the version for that, and with what newer servers stored and this version does not know
 * written back as it was.
 */
export async function storedBytes(call: ApiCall, object: JsonObject, before?: StoredObject): Promise<Buffer> {
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
  const isAllKnown = pruneUnknownFields(before.object, type.schema).unknownFields.length === 0;
  return isAllKnown ? object : keepUnknownFields(object, before.object, type.schema);
}

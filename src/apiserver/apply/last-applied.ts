import { isObject, type Json, type JsonObject, member, objectMember, objectOrEmpty } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { compareFields } from './compare-fields.js';
import type { FieldSet } from './field-set.js';
import { fieldSetOf } from './field-set-of.js';
import { withoutManagers } from './managed-fields.js';
import { ItemError } from './path-element.js';
import type { Writer } from './track-update.js';

/** The annotation in which client-side `kubectl apply` keeps the applied configuration. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Only the manager of this name migrates from client-side to server-side apply. */
const KUBECTL = 'kubectl';

/**
 * Returns the fields that kubectl owned as a client-side applier: those of the last applied configuration
 * that have not changed since. A server-side apply takes them without a conflict.
 */
export function clientSideFields(
  live: JsonObject | undefined,
  { manager, apiVersion, schema }: Writer,
): FieldSet | undefined {
  const text = manager === KUBECTL ? lastAppliedOf(live) : undefined;
  if (live === undefined || text === undefined) return undefined;
  try {
    const last = JSON.parse(text) as Json;
    if (!isObject(last) || last['apiVersion'] !== apiVersion) return undefined;
    const { added, modified, removed } = compareFields(last, withoutManagers(live), schema);
    return fieldSetOf(last, schema).difference(modified).difference(added).difference(removed);
  } catch (error) {
    // Any client may write the annotation: an invalid one is ignored.
    if (error instanceof SyntaxError || error instanceof ItemError) return undefined;
    throw error;
  }
}

/** Updates the annotation of an object that kubectl applies server-side, so that client-side apply works after. */
export function withLastApplied(object: JsonObject, applied: JsonObject, { manager }: Writer): JsonObject {
  if (manager !== KUBECTL || lastAppliedOf(object) === undefined) return object;
  const metadata = object['metadata'] as JsonObject;
  const annotations = { ...(metadata['annotations'] as JsonObject), [LAST_APPLIED]: `${encode(applied)}\n` };
  return { ...object, metadata: { ...metadata, annotations } };
}

function lastAppliedOf(object: JsonObject = {}): string | undefined {
  const text = member(objectMember(metadataOf(object), 'annotations'), LAST_APPLIED);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Encodes without the annotation itself, with members in the order of Go. */
function encode(applied: JsonObject): string {
  const { annotations: sent, ...rest } = metadataOf(applied);
  const { [LAST_APPLIED]: _, ...annotations } = objectOrEmpty(sent);
  const bare = { ...rest, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) };
  return JSON.stringify(sorted({ ...applied, metadata: bare }));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}

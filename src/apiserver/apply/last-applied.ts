import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { compareFields } from './compare-fields.js';
import type { FieldSet } from './field-set.js';
import { fieldSetOf } from './field-set-of.js';
import { ItemError } from './path-element.js';
import { type Writer, withoutManagers } from './track-update.js';

/** What `kubectl apply` keeps on the client's side. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** kubectl's own name as an applier: only it moves from client-side to server-side apply in this way. */
const KUBECTL = 'kubectl';

/**
 * The fields that kubectl owned as a client-side applier: those it applied last and that still are as it applied them.
 * Taking them over as a server-side applier is no conflict. Undefined when there are none.
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
    // Anyone may write the annotation: what cannot be read says nothing.
    if (error instanceof SyntaxError || error instanceof ItemError) return undefined;
    throw error;
  }
}

/** An object that kubectl applies server-side keeps its annotation true, so that client-side apply still works after. */
export function withLastApplied(object: JsonObject, applied: JsonObject, { manager }: Writer): JsonObject {
  if (manager !== KUBECTL || lastAppliedOf(object) === undefined) return object;
  const metadata = object['metadata'] as JsonObject;
  const annotations = { ...(metadata['annotations'] as JsonObject), [LAST_APPLIED]: `${encode(applied)}\n` };
  return { ...object, metadata: { ...metadata, annotations } };
}

function lastAppliedOf(object: JsonObject | undefined): string | undefined {
  const metadata = object === undefined ? undefined : member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  const text = isObject(annotations) ? member(annotations, LAST_APPLIED) : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Without the annotation itself, members in the order Go writes them. */
function encode(applied: JsonObject): string {
  const metadata = isObject(applied['metadata']) ? applied['metadata'] : {};
  const { [LAST_APPLIED]: _, ...annotations } = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const { annotations: __, ...rest } = metadata;
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

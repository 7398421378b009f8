import { WorkSlices } from '../../base/work-slices.js';
import { groupVersion } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import type { ResourceType } from '../registry/resource-type.js';
import { isAllKnown, pruneUnknownFields } from '../schema/unknown-fields.js';
import { type EncodedObject, parseStored, type StoredObject, withStoredRevision } from './stored-object.js';

/**
 * A stored object in one version: without fields that the version does not know, with its defaults.
 * Made once for each object and type, shared by all readers, and not to be changed.
 */
export class ServedView {
  readonly object: JsonObject;
  readonly revision: number;
  readonly #type: ResourceType;
  #bytes: Buffer | undefined;
  #itemBytes: Buffer | undefined;
  #events: Map<string, Buffer> | undefined;

  constructor(object: JsonObject, revision: number, type: ResourceType, bytes?: Buffer) {
    this.object = object;
    this.revision = revision;
    this.#type = type;
    this.#bytes = bytes;
  }

  /** The object as JSON: `kind`, `apiVersion`, `metadata`, and the rest. */
  get bytes(): Buffer {
    this.#bytes ??= copyBytes(JSON.stringify(this.object));
    return this.#bytes;
  }

  /** The object as an item of a list, without its opening brace; of built-in kinds without `kind` and `apiVersion`. */
  get itemBytes(): Buffer {
    this.#itemBytes ??= this.bytes.subarray(this.#type.origin === 'custom' ? 1 : headLength(this.#type));
    return this.#itemBytes;
  }

  /** One line of a watch. */
  eventBytes(type: 'ADDED' | 'MODIFIED' | 'DELETED'): Buffer {
    this.#events ??= new Map();
    let bytes = this.#events.get(type);
    if (!bytes) {
      bytes = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), this.bytes, EVENT_END]);
      this.#events.set(type, bytes);
    }
    return bytes;
  }
}

const EVENT_END = Buffer.from('}\n');

/** Not from Node's buffer pool: a view lives long and would keep a whole slab of the pool in memory. */
function copyBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Kept because every item of a list needs it. */
const headLengths = new WeakMap<ResourceType, number>();

function headLength(type: ResourceType): number {
  let length = headLengths.get(type);
  if (length === undefined) {
    const apiVersion = JSON.stringify(groupVersion(type.group, type.version));
    length = Buffer.byteLength(`{"kind":${JSON.stringify(type.kind)},"apiVersion":${apiVersion},`);
    headLengths.set(type, length);
  }
  return length;
}

/** Synchronous, for types with a trivial conversion. */
export function trivialView(stored: StoredObject, type: ResourceType): ServedView {
  const known = stored.view<ServedView>(type);
  if (known) return known;
  const view = viewOf(parseStored(stored.value), stored.revision, type);
  stored.keepView(type, view);
  return view;
}

/** Returns views in order. Calls the conversion once for all objects that have no view yet. */
export async function servedViews(stored: readonly StoredObject[], type: ResourceType): Promise<ServedView[]> {
  if (type.conversion.isTrivial) return trivialViews(stored, type);
  // Kept here, because an object may release its views during the conversion.
  const views = stored.map((each) => each.view<ServedView>(type));
  const missing = stored.filter((_, index) => views[index] === undefined);
  const slices = new WorkSlices();
  const fresh: JsonObject[] = [];
  for (const each of missing) {
    fresh.push(parseStored(each.value));
    if (slices.isOver) await slices.next();
  }
  const converted = missing.length === 0 ? [] : await type.conversion.toServed(fresh);
  let next = 0;
  const all: ServedView[] = [];
  for (const [index, each] of stored.entries()) {
    const known = views[index];
    const view = known ?? viewOf(converted[next++]!, each.revision, type);
    if (!known) each.keepView(type, view);
    all.push(view);
    if (!known && slices.isOver) await slices.next();
  }
  return all;
}

/** Works in slices: thousands of objects without a view take long. */
async function trivialViews(stored: readonly StoredObject[], type: ResourceType): Promise<ServedView[]> {
  const views: ServedView[] = [];
  const slices = new WorkSlices();
  for (const each of stored) {
    const known = each.view<ServedView>(type);
    views.push(known ?? trivialView(each, type));
    if (!known && slices.isOver) await slices.next();
  }
  return views;
}

/** Returns the view of an object that belongs to the caller. */
export function viewOf(object: JsonObject, revision: number, type: ResourceType): ServedView {
  return new ServedView(shape(object, revision, type), revision, type);
}

/** Returns the view of a new object that was stored at a revision. */
export function createdView(
  object: JsonObject,
  encoded: EncodedObject,
  revision: number,
  type: ResourceType,
): ServedView {
  const { strategy, conversion, storage } = type;
  const apiVersion = groupVersion(type.group, type.version);
  const isServedAsStored = conversion.isTrivial && storage.apiVersion === apiVersion;
  if (!isServedAsStored || !strategy.preparesWithDefaults || !isAllKnown(object, type.schema)) {
    return viewOf(object, revision, type);
  }
  const { kind: _, apiVersion: __, metadata, ...rest } = object;
  const shown = { ...(metadata as JsonObject), resourceVersion: String(revision) };
  const whole = { kind: type.kind, apiVersion, metadata: shown, ...rest };
  return new ServedView(whole, revision, type, withStoredRevision(encoded, revision));
}

/** Returns the form in which clients see an object that belongs to the caller. */
export function shape(object: JsonObject, revision: number, type: ResourceType): JsonObject {
  const pruned = pruneUnknownFields(object, type.schema).object;
  const { kind: _, apiVersion: __, metadata, ...rest } = type.strategy.setDefaults(pruned);
  return {
    kind: type.kind,
    apiVersion: groupVersion(type.group, type.version),
    metadata: { ...(metadata as JsonObject), resourceVersion: String(revision) },
    ...rest,
  };
}

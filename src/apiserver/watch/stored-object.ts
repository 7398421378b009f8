import type { Json, JsonObject } from '../../kube/json.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { KeyValue } from '../storage/backend.js';

/**
 * One object of the store at one revision. Immutable. Parsed once, when first needed; its views are
 * kept, one for each type that serves it.
 */
export class StoredObject {
  readonly key: string;
  readonly value: Buffer;
  readonly revision: number;
  readonly createRevision: number;
  #object: JsonObject | undefined;
  #views: Map<ResourceType, unknown> | undefined;

  constructor(kv: KeyValue) {
    this.key = kv.key.toString('utf8');
    this.value = kv.value;
    this.revision = kv.modRevision;
    this.createRevision = kv.createRevision;
  }

  /** The stored object with its resourceVersion. Shared: not to be changed. */
  get object(): JsonObject {
    if (this.#object === undefined) {
      this.#object = parseStored(this.value);
      (this.#object['metadata'] as JsonObject)['resourceVersion'] = String(this.revision);
    }
    return this.#object;
  }

  /** Returns the view that `keepView` kept for a type. */
  view<T>(type: ResourceType): T | undefined {
    return this.#views?.get(type) as T | undefined;
  }

  /** Releases everything but the bytes. The next use makes it again. */
  release(): void {
    this.#object = undefined;
    this.#views = undefined;
  }

  keepView(type: ResourceType, view: unknown): void {
    this.#views ??= new Map();
    // Bounded: a changed CustomResourceDefinition makes new types.
    if (this.#views.size >= VIEWS_MAX) this.#views.clear();
    this.#views.set(type, view);
  }
}

const VIEWS_MAX = 8;

export function parseStored(value: Buffer): JsonObject {
  return JSON.parse(value.toString('utf8')) as JsonObject;
}

export interface EncodedObject {
  readonly bytes: Buffer;
  /** Index after the last member of `metadata`, which has at least a name. */
  readonly metadataEnd: number;
}

/** Writes `kind`, `apiVersion` and `metadata` first, so that a resourceVersion can be inserted without parsing. */
export function encodeStored(object: JsonObject): EncodedObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata as JsonObject;
  const head = JSON.stringify({ kind: kind as Json, apiVersion: apiVersion as Json, metadata: kept });
  const tail = JSON.stringify(rest);
  // `…}}` with `{…}` is `…},…}`.
  const text = tail === '{}' ? head : `${head.slice(0, -1)},${tail.slice(1)}`;
  return { bytes: Buffer.from(text), metadataEnd: Buffer.byteLength(head) - 2 };
}

/** Returns the stored bytes with the revision as resourceVersion. */
export function withStoredRevision({ bytes, metadataEnd }: EncodedObject, revision: number): Buffer {
  const inserted = `,"resourceVersion":"${revision}"`;
  const result = Buffer.allocUnsafe(bytes.byteLength + inserted.length);
  bytes.copy(result, 0, 0, metadataEnd);
  result.write(inserted, metadataEnd, 'latin1');
  bytes.copy(result, metadataEnd + inserted.length, metadataEnd);
  return result;
}

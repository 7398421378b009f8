import type { Json, JsonObject } from '../../kube/json.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { KeyValue } from '../storage/backend.js';

/**
 * One object as it lies in the store, at one revision. Immutable. Parsed when somebody first asks for more than its bytes,
 * and then once; what it looks like to clients is made once per type it is served as.
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

  /** As stored, with its resourceVersion. Shared: not to be changed. */
  get object(): JsonObject {
    this.#object ??= withResourceVersion(parseStored(this.value), String(this.revision));
    return this.#object;
  }

  /** What was made of it for one type, kept with it. */
  view<T>(type: ResourceType): T | undefined {
    return this.#views?.get(type) as T | undefined;
  }

  /** Lets go of all that was made of the bytes; whoever asks again has it made again. */
  release(): void {
    this.#object = undefined;
    this.#views = undefined;
  }

  keepView(type: ResourceType, view: unknown): void {
    this.#views ??= new Map();
    // Definitions come and go; an object outlives few of them.
    if (this.#views.size >= VIEWS_MAX) this.#views.clear();
    this.#views.set(type, view);
  }
}

const VIEWS_MAX = 8;

function parseStored(value: Buffer): JsonObject {
  return JSON.parse(value.toString('utf8')) as JsonObject;
}

function withResourceVersion(object: JsonObject, resourceVersion: string): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  metadata['resourceVersion'] = resourceVersion;
  return object;
}

export interface EncodedObject {
  readonly bytes: Buffer;
  /** Where the last member of `metadata` ends; it has one, the name. */
  readonly metadataEnd: number;
}

/** `kind`, `apiVersion` and `metadata` first, so that a resourceVersion can be put in without parsing. */
export function encodeStored(object: JsonObject): EncodedObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata as JsonObject;
  const head = JSON.stringify({ kind: kind as Json, apiVersion: apiVersion as Json, metadata: kept });
  const tail = JSON.stringify(rest);
  // `…}}` with `{…}` is `…},…}`.
  const text = tail === '{}' ? head : `${head.slice(0, -1)},${tail.slice(1)}`;
  return { bytes: Buffer.from(text), metadataEnd: Buffer.byteLength(head) - 2 };
}

/** What was stored, with the revision that it was stored at, as clients read it. */
export function withStoredRevision({ bytes, metadataEnd }: EncodedObject, revision: number): Buffer {
  const inserted = `,"resourceVersion":"${revision}"`;
  const result = Buffer.allocUnsafe(bytes.byteLength + inserted.length);
  bytes.copy(result, 0, 0, metadataEnd);
  result.write(inserted, metadataEnd, 'latin1');
  bytes.copy(result, metadataEnd + inserted.length, metadataEnd);
  return result;
}

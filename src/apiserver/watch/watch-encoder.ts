import { groupVersion } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import type { Status } from '../../kube/status.js';
import { encodeWatchFrame } from '../protobuf/watch-frame.js';
import type { ResourceType } from '../registry/resource-type.js';
import { tableRow } from '../table/table.js';
import { type ServedView, servedViews, trivialView } from './served-view.js';
import type { StoredObject } from './stored-object.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The form of objects in a reply. */
export interface OutputForm {
  readonly encoding: 'json' | 'yaml' | 'protobuf';
  readonly as: 'object' | 'table' | 'metadata';
  /** For `metadata` only: whether the metadata of a list was requested. */
  readonly ofList?: boolean;
  /** `v1` or `v1beta1` of meta.k8s.io, for tables and metadata. */
  readonly version: string;
  readonly includeObject: 'None' | 'Metadata' | 'Object';
}

/** Encodes events as lines of JSON or frames of protobuf. Bytes that are equal for all clients are made once. */
export class WatchEncoder {
  readonly #type: ResourceType;
  readonly #form: OutputForm;
  readonly #nowMs: () => number;
  #columnsSent = false;

  constructor(type: ResourceType, form: OutputForm, nowMs: () => number) {
    this.#type = type;
    this.#form = form;
    this.#nowMs = nowMs;
  }

  /** Whether `encode` can be used: the conversion is trivial. */
  get isImmediate(): boolean {
    return this.#type.conversion.isTrivial;
  }

  encode(type: EventType, stored: StoredObject): Buffer {
    return this.#line(type, trivialView(stored, this.#type));
  }

  async encodeConverted(type: EventType, stored: StoredObject): Promise<Buffer> {
    const [view] = await servedViews([stored], this.#type);
    return this.#line(type, view!);
  }

  /** Encodes a bookmark; `endOfInitialEvents` marks the end of the initial state. */
  bookmark(revision: number, endOfInitialEvents: boolean): Buffer {
    const annotations = endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
    const { kind, group, version } = this.#type;
    if (this.#form.as === 'object') {
      return this.#event('BOOKMARK', { kind, apiVersion: groupVersion(group, version), metadata });
    }
    if (this.#form.as === 'metadata') return this.#event('BOOKMARK', this.#meta('PartialObjectMetadata', { metadata }));
    const row = { cells: [], object: this.#meta('PartialObjectMetadata', { metadata }) };
    return this.#event(
      'BOOKMARK',
      this.#meta('Table', { metadata: { resourceVersion: String(revision) }, columnDefinitions: null, rows: [row] }),
    );
  }

  error(status: Status): Buffer {
    return this.#event('ERROR', status as unknown as JsonObject);
  }

  #line(type: EventType, view: ServedView): Buffer {
    const { as, includeObject } = this.#form;
    if (as === 'object' && this.#form.encoding !== 'protobuf') return view.eventBytes(type);
    if (as === 'object') return this.#event(type, view.object);
    if (as === 'metadata') {
      return this.#event(type, this.#meta('PartialObjectMetadata', { metadata: view.object['metadata'] ?? {} }));
    }
    const { printer } = this.#type;
    const columns = printer.columns.map((column) => ({ ...column, description: '' }));
    const row = tableRow(view.object, printer, { includeObject, nowMs: this.#nowMs() });
    const table = this.#meta('Table', {
      metadata: { resourceVersion: String(view.revision) },
      // Only the first event has the columns.
      columnDefinitions: this.#columnsSent ? null : columns,
      rows: [row],
    });
    this.#columnsSent = true;
    return this.#event(type, table);
  }

  #meta(kind: string, rest: JsonObject): JsonObject {
    return { kind, apiVersion: `meta.k8s.io/${this.#form.version}`, ...rest };
  }

  #event(type: string, object: JsonObject): Buffer {
    const frame = this.#form.encoding === 'protobuf' ? encodeWatchFrame(type, object) : undefined;
    return frame ?? Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
  }
}

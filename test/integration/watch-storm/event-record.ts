import type { Latencies } from './latencies.js';

export interface SeenEvent {
  readonly type: string;
  readonly name: string;
  readonly revision: number;
}

/** Final report of one watcher. */
export interface RecordReport {
  readonly count: number;
  /** Equal for watchers with the same events in the same order. */
  readonly digest: number;
  readonly lastRevision: number;
  /** The first event that came twice or out of order. */
  readonly wrongOrder?: string;
}

/** The events of one watcher, in order. */
export class EventRecord {
  readonly latencies: Latencies;
  readonly all: SeenEvent[] | undefined;
  #count = 0;
  #digest = 0x811c9dc5;
  #lastRevision: number;
  #wrongOrder: string | undefined;

  constructor(options: { fromRevision: number; latencies: Latencies; keepsAll: boolean }) {
    this.#lastRevision = options.fromRevision;
    this.latencies = options.latencies;
    this.all = options.keepsAll ? [] : undefined;
  }

  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** Objects of one resource come in the order of their revisions: stricter than the order per object. */
  see(event: SeenEvent, sentAtMs: number): void {
    const { type, name, revision } = event;
    if (revision <= this.#lastRevision) this.#wrongOrder ??= `${type} ${name} ${revision} after ${this.#lastRevision}`;
    this.#lastRevision = revision;
    this.#count++;
    this.#mix(revision);
    this.#mix(type.charCodeAt(0));
    // The end of a name identifies an object.
    for (let index = Math.max(0, name.length - 5); index < name.length; index++) this.#mix(name.charCodeAt(index));
    this.all?.push(event);
    if (type !== 'DELETED' && sentAtMs > 0) this.latencies.add(Date.now() - sentAtMs);
  }

  report(): RecordReport {
    return {
      count: this.#count,
      digest: this.#digest,
      lastRevision: this.#lastRevision,
      ...(this.#wrongOrder === undefined ? {} : { wrongOrder: this.#wrongOrder }),
    };
  }

  #mix(value: number): void {
    this.#digest = Math.imul(this.#digest ^ value, 0x01000193) >>> 0;
  }
}

import type { WatchBeginning } from './watch-request.js';

/**
 * The state of a watch that is needed to continue it elsewhere: where its events begin and end, and from which
 * resourceVersion on nothing would be lost or repeated. Of an event no more is read than its type and position.
 */

/** A longer event is passed on in parts; the stream can then no longer be taken up at an event's boundary. */
export const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** Counted for each piece of an event that is held back, so that pieces of a byte each cannot hold a multiple of the bound. */
const PIECE_BYTES = 128;

/** How the events of a watch follow each other and what they contain, in one encoding. */
export interface EventFormat {
  createScanner(): EventScanner;
  /** Returns the end of the event that begins at `start` in a buffer of whole events. */
  eventEnd(events: Buffer, start: number): number;
  /** Returns the type of an event, undefined if it cannot be read. Called for each event of an initial state. */
  typeOf(event: Buffer): string | undefined;
  skim(event: Buffer): SkimmedEvent;
}

/** Finds the ends of events in a stream, piece by piece, without keeping its bytes. */
export interface EventScanner {
  /** Start of the last event that ended in the last piece; 0 also for an event that began before it. */
  readonly lastStart: number;
  /** Takes the next piece; returns the end of the last event that ends in it, 0 if none does, UNFRAMED if that is unknown. */
  take(piece: Uint8Array): number;
  /** Forgets the beginning of an event whose rest will not come. */
  reset(): void;
}

/** The bytes are no events of the format, or an event is larger than EVENT_BYTES_MAX. */
export const UNFRAMED = -1;

/** `malformed`: it is not certain that the bytes are one event. */
export type SkimmedEvent = { readonly type: string; readonly resourceVersion: string | undefined } | 'malformed';

/**
 * Where a stream that broke off stands:
 * - from: everything up to this resourceVersion was delivered and nothing after it;
 * - untouched: nothing was delivered, so the request can simply be made again;
 * - over: the last event was an ERROR, after which a watch has nothing more to say;
 * - unsafe: whole events were delivered, but what else the client has to get cannot be told;
 * - inside: it may be in the middle of an event.
 */
export type WatchPosition =
  | { readonly kind: 'from'; readonly resourceVersion: string }
  | { readonly kind: 'untouched' | 'over' | 'unsafe' | 'inside' };

/** Cuts a watch's bytes into whole events, and remembers just enough of them to say where the stream stands. */
export class WatchEvents {
  readonly #format: EventFormat;
  readonly #scanner: EventScanner;
  readonly #beginning: WatchBeginning;
  /** From here on events come in the order of their resourceVersions. */
  #ordered: boolean;
  #begun = false;
  #unframed = false;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  /**
   * What matters of the last whole event. Read at once: to keep its bytes instead is cheaper for a moment, but those of
   * thousands of watches are then the old generation's to clean up, with pauses that every event waits for.
   */
  #last: SkimmedEvent | undefined;

  constructor(format: EventFormat, beginning: WatchBeginning) {
    this.#format = format;
    this.#scanner = format.createScanner();
    this.#beginning = beginning;
    this.#ordered = beginning === 'nothing' || beginning === 'now';
  }

  /** Passes on what completes events, as it is and without a copy, and holds the rest back. */
  take(chunk: Uint8Array, forward: (bytes: Uint8Array) => void): void {
    if (this.#unframed) {
      forward(chunk);
      return;
    }
    const end = this.#scanner.take(chunk);
    if (end === UNFRAMED) {
      this.#giveUp(forward);
      forward(chunk);
      return;
    }
    if (end === 0) {
      this.#hold(chunk, forward);
      return;
    }
    const head = this.#tail;
    const whole = end === chunk.byteLength ? chunk : chunk.subarray(0, end);
    this.#tail = [];
    this.#tailBytes = 0;
    this.#begun = true;
    if (!this.#ordered) this.#ordered = this.#endsState(head, whole);
    this.#remember(head, whole);
    for (const part of head) forward(part);
    forward(whole);
    if (end < chunk.byteLength) this.#hold(chunk.subarray(end), forward);
  }

  /** Passes on what is held back: the stream is over and stays as it was. */
  flush(forward: (bytes: Uint8Array) => void): void {
    const tail = this.#tail;
    this.dropTail();
    for (const part of tail) forward(part);
  }

  /** Forgets the beginning of an event whose rest will not come; it comes anew from elsewhere. */
  dropTail(): void {
    this.#tail = [];
    this.#tailBytes = 0;
    this.#scanner.reset();
  }

  position(): WatchPosition {
    if (this.#unframed) return { kind: 'inside' };
    if (!this.#begun) return { kind: this.#beginning === 'now' ? 'unsafe' : 'untouched' };
    const event = this.#last!;
    if (event === 'malformed') return { kind: 'inside' };
    if (event.type === 'ERROR') return { kind: 'over' };
    if (!this.#ordered || event.resourceVersion === undefined) return { kind: 'unsafe' };
    return { kind: 'from', resourceVersion: event.resourceVersion };
  }

  #hold(bytes: Uint8Array, forward: (bytes: Uint8Array) => void): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.byteLength + PIECE_BYTES;
    if (this.#tailBytes > EVENT_BYTES_MAX) this.#giveUp(forward);
  }

  #giveUp(forward: (bytes: Uint8Array) => void): void {
    this.#unframed = true;
    this.#last = undefined;
    this.flush(forward);
  }

  #remember(head: readonly Uint8Array[], whole: Uint8Array): void {
    const start = this.#scanner.lastStart;
    const event = whole.subarray(start);
    this.#last = this.#format.skim(start === 0 ? joined(head, event) : asBuffer(event));
  }

  /** Whether one of these events shows that the state is complete. Runs only until one does. */
  #endsState(head: readonly Uint8Array[], whole: Uint8Array): boolean {
    const bytes = joined(head, whole);
    for (let start = 0; start < bytes.byteLength; ) {
      const end = this.#format.eventEnd(bytes, start);
      if (this.#endsStateWith(bytes.subarray(start, end))) return true;
      start = end;
    }
    return false;
  }

  #endsStateWith(event: Buffer): boolean {
    const type = this.#format.typeOf(event);
    // Strings are UTF-8 as they are in every encoding, and a bookmark has nothing but metadata.
    if (type === 'BOOKMARK') return this.#beginning !== 'marked-state' || event.includes(STATE_END);
    // The state itself is made of ADDED events only, so any other is a change that came after it.
    return this.#beginning === 'state' && (type === 'MODIFIED' || type === 'DELETED');
  }
}

const STATE_END = 'k8s.io/initial-events-end';

/** Copies only what has arrived in several pieces. */
function joined(head: readonly Uint8Array[], rest: Uint8Array): Buffer {
  return head.length > 0 ? Buffer.concat([...head, rest]) : asBuffer(rest);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

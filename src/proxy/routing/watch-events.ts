import { rawPath, rawQuery } from '../../base/target.js';

/**
 * Facts about a JSON watch that are needed to continue it at another server: where events begin and
 * end, and the resourceVersion from which nothing is lost or repeated. Only type and
 * resourceVersion of an event are read.
 */

/** A longer event is passed on in parts; the watch can then no longer be continued. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;

const NEWLINE = 10;

/**
 * Beginning of a watch:
 * - nothing: every event continues from the request's resourceVersion;
 * - state: all objects, as ADDED events in no order, then changes;
 * - marked-state: the same, with a bookmark at the end of the state, for which the client waits;
 * - now: changes only, from a moment that the server chose.
 */
export type WatchBeginning = 'nothing' | 'state' | 'marked-state' | 'now';

export interface WatchRequest {
  readonly beginning: WatchBeginning;
  /** Undefined where the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

/** Returns undefined for parameters that servers may interpret differently. */
export function readWatchRequest(target: string): WatchRequest | undefined {
  const values = new Map<string, string>();
  for (const pair of splitQuery(target)) {
    if (!DECIDING.has(pair.name)) continue;
    if (pair.value === undefined || values.has(pair.name)) return undefined;
    values.set(pair.name, pair.value);
  }
  const resourceVersion = values.get('resourceVersion') ?? '';
  const timeout = values.get('timeoutSeconds') ?? '';
  if (!/^\d{0,20}$/.test(resourceVersion) || !/^\d{0,9}$/.test(timeout)) return undefined;
  return {
    beginning: beginningOf(resourceVersion, values.get('sendInitialEvents')),
    timeoutSeconds: Number(timeout) > 0 ? Number(timeout) : undefined,
  };
}

function beginningOf(resourceVersion: string, sendInitialEvents: string | undefined): WatchBeginning {
  const fromOne = resourceVersion !== '' && !/^0+$/.test(resourceVersion);
  if (sendInitialEvents === undefined) return fromOne ? 'nothing' : 'state';
  // Kubernetes: only these two are false, an empty value is true.
  if (sendInitialEvents !== '0' && sendInitialEvents.toLowerCase() !== 'false') return 'marked-state';
  return fromOne ? 'nothing' : 'now';
}

export interface TakeUp {
  /** Undefined to ask for the same as before. */
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** Returns the target for the rest of a watch; all other parameters stay as written. */
export function takeUpTarget(target: string, { resourceVersion, timeoutSeconds }: TakeUp): string {
  const path = rawPath(target);
  const parts: string[] = [];
  let placed = resourceVersion === undefined;
  for (const { raw, name } of splitQuery(target)) {
    if (name === 'timeoutSeconds' && timeoutSeconds !== undefined) parts.push(`timeoutSeconds=${timeoutSeconds}`);
    else if (resourceVersion === undefined) parts.push(raw);
    else if (name === 'resourceVersion') {
      parts.push(`resourceVersion=${encodeURIComponent(resourceVersion)}`);
      placed = true;
    } else if (name !== 'resourceVersionMatch' && name !== 'sendInitialEvents') parts.push(raw);
  }
  if (!placed) parts.push(`resourceVersion=${encodeURIComponent(resourceVersion!)}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}

const DECIDING: ReadonlySet<string> = new Set([
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
]);

interface QueryPair {
  readonly raw: string;
  readonly name: string;
  /** Undefined if it cannot be decoded. */
  readonly value: string | undefined;
}

function splitQuery(target: string): QueryPair[] {
  const query = rawQuery(target);
  if (query === '') return [];
  return query.split('&').map((raw) => {
    const equals = raw.indexOf('=');
    const name = decodeQuery(equals < 0 ? raw : raw.slice(0, equals)) ?? '';
    return { raw, name, value: equals < 0 ? '' : decodeQuery(raw.slice(equals + 1)) };
  });
}

function decodeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * Position of a stream that broke off:
 * - from: everything up to this resourceVersion was delivered and nothing after it;
 * - untouched: nothing was delivered, so the same request can be sent again;
 * - over: the last event was an ERROR, after which no event follows;
 * - unsafe: complete events were delivered, but the ones that are missing cannot be determined;
 * - inside: it may be in the middle of an event.
 */
export type WatchPosition =
  | { readonly kind: 'from'; readonly resourceVersion: string }
  | { readonly kind: 'untouched' | 'over' | 'unsafe' | 'inside' };

/** Splits the bytes of a watch into complete events and stores the position of the stream. */
export class EventLines {
  readonly #beginning: WatchBeginning;
  /** Events are in the order of their resourceVersions from now on. */
  #ordered: boolean;
  #begun = false;
  #unframed = false;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  /**
   * Type and resourceVersion of the last complete event. Parsed at once: the bytes of thousands of
   * watches, kept instead, would be tenured and cause long garbage collections.
   */
  #last: SkimmedEvent | undefined;

  constructor(beginning: WatchBeginning) {
    this.#beginning = beginning;
    this.#ordered = beginning === 'nothing' || beginning === 'now';
  }

  /** Forwards complete events and holds the rest back. */
  take(chunk: Uint8Array, forward: (bytes: Uint8Array) => void): void {
    if (this.#unframed) {
      forward(chunk);
      return;
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
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

  /** Forwards the bytes that were held back: the stream has ended. */
  flush(forward: (bytes: Uint8Array) => void): void {
    for (const part of this.#tail) forward(part);
    this.dropTail();
  }

  /** Drops the beginning of an event, which another server sends again. */
  dropTail(): void {
    this.#tail = [];
    this.#tailBytes = 0;
  }

  position(): WatchPosition {
    if (this.#unframed) return { kind: 'inside' };
    if (!this.#begun) return { kind: this.#beginning === 'now' ? 'unsafe' : 'untouched' };
    const event = this.#last!;
    // Not one event a line, so the end of a line is no boundary.
    if (event === 'malformed') return { kind: 'inside' };
    if (event.type === 'ERROR') return { kind: 'over' };
    if (!this.#ordered || event.resourceVersion === undefined) return { kind: 'unsafe' };
    return { kind: 'from', resourceVersion: event.resourceVersion };
  }

  #hold(bytes: Uint8Array, forward: (bytes: Uint8Array) => void): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.byteLength;
    if (this.#tailBytes <= LINE_BYTES_MAX) return;
    this.#unframed = true;
    this.#last = undefined;
    this.flush(forward);
  }

  #remember(head: readonly Uint8Array[], whole: Uint8Array): void {
    const start = whole.byteLength < 2 ? 0 : whole.lastIndexOf(NEWLINE, whole.byteLength - 2) + 1;
    const line = whole.subarray(start);
    this.#last = skimEvent(start === 0 && head.length > 0 ? Buffer.concat([...head, line]) : asBuffer(line));
  }

  /** Returns whether one of these events shows that the state is complete. */
  #endsState(head: readonly Uint8Array[], whole: Uint8Array): boolean {
    const bytes = head.length > 0 ? Buffer.concat([...head, whole]) : asBuffer(whole);
    for (let start = 0; start < bytes.byteLength; ) {
      const end = bytes.indexOf(NEWLINE, start) + 1;
      if (this.#endsStateLine(bytes.subarray(start, end))) return true;
      start = end;
    }
    return false;
  }

  #endsStateLine(line: Buffer): boolean {
    const type = line.toString('latin1', 0, LONGEST_PREFIX);
    if (type.startsWith(BOOKMARK)) return this.#beginning !== 'marked-state' || line.includes(STATE_END);
    // The state itself is made of ADDED events only, so any other is a change that came after it.
    return this.#beginning === 'state' && (type.startsWith(MODIFIED) || type.startsWith(DELETED));
  }
}

const BOOKMARK = '{"type":"BOOKMARK"';
const MODIFIED = '{"type":"MODIFIED"';
const DELETED = '{"type":"DELETED"';
const LONGEST_PREFIX = BOOKMARK.length;
const STATE_END = 'k8s.io/initial-events-end';

export type SkimmedEvent = { readonly type: string; readonly resourceVersion: string | undefined } | 'malformed';

/** Reads type and resourceVersion of an event without parsing the rest. */
export function skimEvent(line: Buffer): SkimmedEvent {
  try {
    const type = valueAt(line, ['type']);
    if (type === undefined) return 'malformed';
    const version = valueAt(line, ['object', 'metadata', 'resourceVersion']);
    return { type, resourceVersion: version ? version : tableVersion(line) };
  } catch {
    return 'malformed';
  }
}

/** Returns the resourceVersion of a Table without one, from its row. */
function tableVersion(line: Buffer): string | undefined {
  if (valueAt(line, ['object', 'kind']) !== 'Table') return undefined;
  const event = JSON.parse(line.toString('utf8')) as {
    object?: { rows?: { object?: { metadata?: { resourceVersion?: unknown } } }[] };
  };
  const version = event.object?.rows?.[0]?.object?.metadata?.resourceVersion;
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/** Returns the string at a path of nested objects. Throws for malformed JSON before it. */
function valueAt(bytes: Buffer, path: readonly string[]): string | undefined {
  const skimmer = new JsonSkimmer(bytes);
  for (const key of path) if (!skimmer.enter(key)) return undefined;
  return skimmer.string();
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class JsonSkimmer {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Moves to the value of `key` in the object that begins here. */
  enter(key: string): boolean {
    if (this.#next() !== '{') return false;
    for (;;) {
      this.#at++;
      if (this.#next() === '}') return false;
      const name = this.string();
      if (name === undefined || this.#next() !== ':') throw new SyntaxError('not an object');
      this.#at++;
      if (name === key) return true;
      this.#skipValue();
      const after = this.#next();
      if (after === '}') return false;
      if (after !== ',') throw new SyntaxError('not an object');
    }
  }

  /** Reads the string that begins here; returns undefined for any other value. */
  string(): string | undefined {
    if (this.#next() !== '"') return undefined;
    const start = this.#at;
    this.#skipString();
    const raw = this.#bytes.toString('utf8', start, this.#at);
    return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  }

  #skipValue(): void {
    let depth = 0;
    do {
      const character = this.#next();
      if (character === '"') {
        this.#skipString();
        continue;
      }
      if (character === '{' || character === '[') depth++;
      else if (character === '}' || character === ']') depth--;
      else if (depth === 0) {
        this.#skipScalar();
        return;
      }
      this.#at++;
    } while (depth > 0);
  }

  #skipScalar(): void {
    while (this.#at < this.#bytes.byteLength && !',}] \n\r\t'.includes(String.fromCharCode(this.#bytes[this.#at]!))) {
      this.#at++;
    }
  }

  #skipString(): void {
    let end = this.#at;
    for (;;) {
      end = this.#bytes.indexOf(QUOTE, end + 1);
      if (end < 0) throw new SyntaxError('a string without an end');
      let escapes = 0;
      while (this.#bytes[end - 1 - escapes] === BACKSLASH) escapes++;
      if (escapes % 2 === 0) break;
    }
    this.#at = end + 1;
  }

  /** Returns the next character after any space. */
  #next(): string {
    for (; this.#at < this.#bytes.byteLength; this.#at++) {
      const byte = this.#bytes[this.#at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return String.fromCharCode(byte);
    }
    throw new SyntaxError('ends too soon');
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

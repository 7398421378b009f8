import type { EventFormat, EventScanner, SkimmedEvent } from './watch-events.js';

/** `application/json`: one event a line. */
export const JSON_EVENTS: EventFormat = {
  createScanner: () => new LineScanner(),
  eventEnd: (events, start) => events.indexOf(NEWLINE, start) + 1,
  typeOf,
  skim,
};

const NEWLINE = 10;

class LineScanner implements EventScanner {
  lastStart = 0;

  take(piece: Uint8Array): number {
    const end = piece.lastIndexOf(NEWLINE) + 1;
    this.lastStart = end < 2 ? 0 : piece.lastIndexOf(NEWLINE, end - 2) + 1;
    return end;
  }

  reset(): void {}
}

/** More than an event needs up to the end of its type. */
const TYPE_PREFIX_BYTES = 32;

/** Reads the type where servers write it, at the beginning. */
function typeOf(line: Buffer): string | undefined {
  return /^\{"type":"([A-Z]+)"/.exec(line.toString('latin1', 0, TYPE_PREFIX_BYTES))?.[1];
}

/** Reads an event's type and position and skips the rest, most of which is never looked at. */
function skim(line: Buffer): SkimmedEvent {
  try {
    const type = valueAt(line, ['type']);
    if (type === undefined) return 'malformed';
    const version = valueAt(line, ['object', 'metadata', 'resourceVersion']);
    return { type, resourceVersion: version ? version : tableVersion(line) };
  } catch {
    return 'malformed';
  }
}

/** Returns the resourceVersion in the first row of a Table, for a Table that has none in its metadata. */
function tableVersion(line: Buffer): string | undefined {
  if (valueAt(line, ['object', 'kind']) !== 'Table') return undefined;
  const event = JSON.parse(line.toString('utf8')) as {
    object?: { rows?: { object?: { metadata?: { resourceVersion?: unknown } } }[] };
  };
  const version = event.object?.rows?.[0]?.object?.metadata?.resourceVersion;
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/** The string at a path of nested objects. Throws for what is not JSON as far as it has to look. */
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

  /** In the object that begins here, moves to the value of `key`. */
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

  /** The string that begins here, which is then passed; undefined for any other value. */
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

  /** The character here, after any space. */
  #next(): string {
    for (; this.#at < this.#bytes.byteLength; this.#at++) {
      const byte = this.#bytes[this.#at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return String.fromCharCode(byte);
    }
    throw new SyntaxError('ends too soon');
  }
}

/**
 * The wire format of CBOR (RFC 8949) as far as Kubernetes writes it: lengths are always definite. Tags are skipped, and byte
 * strings count as text, because Kubernetes writes every string as a byte string.
 */

const BYTE_STRING = 2;
const TEXT_STRING = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

/** Largest value of the initial byte's low bits that is itself the argument. */
const ARGUMENT_INLINE_MAX = 23;
/** The argument follows in 1, 2, 4 or 8 bytes for 24 to 27; the rest is reserved or an indefinite length. */
const ARGUMENT_BYTES_INFO_MAX = 27;
/** The limit of Kubernetes' decoder. */
const DEPTH_MAX = 64;

/** Bytes that are not CBOR as described above, or that end too soon. */
export class CborError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CborError';
  }
}

/** Finds the ends of the items of a sequence (RFC 8742) that arrives in pieces, without keeping its bytes. */
export class CborSequence {
  readonly #itemBytesMax: number;
  /** Items that are still to come in each open array or map. */
  #open: number[] = [];
  #major = 0;
  #argument = 0;
  #argumentBytesLeft = 0;
  #stringBytesLeft = 0;
  /** Start of the last item that ended in the last piece; 0 also for an item that began before it. */
  lastStart = 0;

  constructor(itemBytesMax: number) {
    this.#itemBytesMax = itemBytesMax;
  }

  /** Takes the next piece; returns the end of the last item that ends in it, or 0. Throws CborError. */
  take(piece: Uint8Array): number {
    let end = 0;
    this.lastStart = 0;
    for (let at = 0; at < piece.length; ) {
      if (this.#stringBytesLeft > 0) {
        const taken = Math.min(this.#stringBytesLeft, piece.length - at);
        at += taken;
        this.#stringBytesLeft -= taken;
        if (this.#stringBytesLeft > 0) break;
      } else {
        const byte = piece[at++]!;
        if (!(this.#argumentBytesLeft > 0 ? this.#continueHead(byte) : this.#beginHead(byte)) || !this.#endHead())
          continue;
      }
      if (!this.#endItem()) continue;
      this.lastStart = end;
      end = at;
    }
    return end;
  }

  /** Forgets the beginning of an item whose rest will not come. */
  reset(): void {
    this.#open = [];
    this.#argumentBytesLeft = 0;
    this.#stringBytesLeft = 0;
  }

  /** Returns whether the head is complete. */
  #beginHead(byte: number): boolean {
    this.#major = byte >> 5;
    const info = byte & 0x1f;
    if (info > ARGUMENT_BYTES_INFO_MAX) throw new CborError('an indefinite length or a reserved head');
    this.#argument = info > ARGUMENT_INLINE_MAX ? 0 : info;
    this.#argumentBytesLeft = info > ARGUMENT_INLINE_MAX ? argumentBytes(info) : 0;
    return this.#argumentBytesLeft === 0;
  }

  #continueHead(byte: number): boolean {
    this.#argument = this.#argument * 0x100 + byte;
    return --this.#argumentBytesLeft === 0;
  }

  /** Returns whether the item ends with its head. */
  #endHead(): boolean {
    const major = this.#major;
    if (major === TAG) return false;
    if (major < BYTE_STRING || major > MAP || this.#argument === 0) return true;
    if (this.#argument > this.#itemBytesMax) throw new CborError('an item is too large');
    if (major <= TEXT_STRING) this.#stringBytesLeft = this.#argument;
    else if (this.#open.length >= DEPTH_MAX) throw new CborError('items are nested too deeply');
    else this.#open.push(major === MAP ? this.#argument * 2 : this.#argument);
    return false;
  }

  /** Returns whether the item that ends here, with the arrays and maps that end with it, is one of the sequence. */
  #endItem(): boolean {
    const open = this.#open;
    while (open.length > 0) {
      if (--open[open.length - 1]! > 0) return false;
      open.pop();
    }
    return true;
  }
}

/** Returns the end of the item that begins at `start`. Throws CborError if it is not whole. */
export function cborItemEnd(bytes: Buffer, start: number): number {
  const reader = new CborReader(bytes, start);
  reader.skipItem();
  return reader.position;
}

/**
 * Returns the value at a path of map keys: a string, an integer, null for any other value, undefined if there is none. Only
 * the bytes before the value are checked. Throws CborError.
 */
export function cborValueAt(item: Buffer, path: readonly string[]): string | number | null | undefined {
  const reader = new CborReader(item, 0);
  for (const key of path) if (!reader.enter(key)) return undefined;
  return reader.value();
}

class CborReader {
  readonly #bytes: Buffer;
  position: number;
  #major = 0;
  #argument = 0;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.position = start;
  }

  /** In the map that begins here, moves to the value of `key`. Returns false if there is none, or no map. */
  enter(key: string): boolean {
    this.#head();
    if (this.#major !== MAP) return false;
    for (let left = this.#argument; left > 0; left--) {
      if (this.value() === key) return true;
      this.skipItem();
    }
    return false;
  }

  /** The value that begins here, which is then passed. */
  value(): string | number | null {
    const start = this.position;
    this.#head();
    if (this.#major === BYTE_STRING || this.#major === TEXT_STRING) {
      const from = this.position;
      this.#advance(this.#argument);
      return this.#bytes.toString('utf8', from, this.position);
    }
    if (this.#major === 0) return this.#argument;
    if (this.#major === 1) return -1 - this.#argument;
    this.position = start;
    this.skipItem();
    return null;
  }

  skipItem(): void {
    for (let left = 1; left > 0; left--) {
      this.#head();
      if (this.#major === BYTE_STRING || this.#major === TEXT_STRING) this.#advance(this.#argument);
      else if (this.#major === ARRAY) left += this.#argument;
      else if (this.#major === MAP) left += this.#argument * 2;
    }
  }

  /** Reads the head of the item that begins here, and the tags before it. */
  #head(): void {
    do {
      const byte = this.#byte();
      this.#major = byte >> 5;
      const info = byte & 0x1f;
      if (info > ARGUMENT_BYTES_INFO_MAX) throw new CborError('an indefinite length or a reserved head');
      this.#argument = info;
      if (info <= ARGUMENT_INLINE_MAX) continue;
      this.#argument = 0;
      for (let left = argumentBytes(info); left > 0; left--) this.#argument = this.#argument * 0x100 + this.#byte();
    } while (this.#major === TAG);
  }

  #advance(length: number): void {
    if (length > this.#bytes.length - this.position) throw new CborError('unexpected end');
    this.position += length;
  }

  #byte(): number {
    const byte = this.#bytes[this.position++];
    if (byte === undefined) throw new CborError('unexpected end');
    return byte;
  }
}

function argumentBytes(info: number): number {
  return 1 << (info - ARGUMENT_INLINE_MAX - 1);
}

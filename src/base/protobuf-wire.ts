/** The wire format of protobuf: fields to bytes and back. Messages and their field numbers are tables of the callers. */

export const VARINT = 0;
export const FIXED64 = 1;
export const DELIMITED = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const VARINT_BYTES_MAX = 10;
/** Seven bytes of seven bits each fit a double exactly. */
const EXACT_BYTES = 7;
const EXACT_MAX = 2 ** 49;

/** Bytes that are no message, or a value that a message cannot hold. The texts are those of Go's decoders. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

/**
 * Reads one message: `while (reader.next())`, a switch on `reader.field`, and at most one read of each field; a field that
 * is not read is skipped. Byte strings are views of the message. Malformed or truncated bytes throw ProtobufError.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #position = 0;
  #fieldStart = 0;
  #pending = false;
  field = 0;
  wireType: number;

  /** `wireType` is for a packed list, whose values are read without `next`. */
  constructor(bytes: Buffer, wireType: number = VARINT) {
    this.#bytes = bytes;
    this.wireType = wireType;
  }

  get atEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  /** Returns false at the end of the message. */
  next(): boolean {
    if (this.#pending) this.#skip();
    if (this.#position >= this.#bytes.length) return false;
    this.#fieldStart = this.#position;
    const tag = this.#length();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field < 1 || tag > 0xffff_ffff) throw new ProtobufError('illegal tag');
    this.#pending = true;
    return true;
  }

  /** A signed number of 64 bits; one that a double cannot hold loses its last digits, as in JSON. */
  number(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  /** A signed number of 64 bits, exact. */
  bigint(): bigint {
    this.#expect(VARINT);
    return this.#bigVarint();
  }

  int32(): number {
    this.#expect(VARINT);
    const start = this.#position;
    const value = this.#varint();
    // Conversion to 32 bits is exact for exact numbers only.
    if (value >= 0 && value < EXACT_MAX) return value | 0;
    this.#position = start;
    return Number(BigInt.asIntN(32, this.#bigVarint()));
  }

  flag(): boolean {
    return this.number() !== 0;
  }

  double(): number {
    this.#expect(FIXED64);
    const start = this.#position;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  bytes(): Buffer {
    this.#expect(DELIMITED);
    const length = this.#length();
    const start = this.#position;
    this.#advance(length);
    return this.#bytes.subarray(start, this.#position);
  }

  text(): string {
    this.#expect(DELIMITED);
    const length = this.#length();
    const start = this.#position;
    this.#advance(length);
    return this.#bytes.toString('utf8', start, this.#position);
  }

  message<T>(decode: (reader: WireReader) => T): T {
    return decode(new WireReader(this.bytes()));
  }

  /** The whole field, including its tag. */
  raw(): Buffer {
    if (this.#pending) this.#skip();
    return this.#bytes.subarray(this.#fieldStart, this.#position);
  }

  #expect(wireType: number): void {
    if (this.wireType !== wireType) {
      throw new ProtobufError(`wrong wireType = ${this.wireType} for field ${this.field}`);
    }
    this.#pending = false;
  }

  #skip(): void {
    this.#pending = false;
    let groups = 0;
    let { wireType } = this;
    for (;;) {
      if (wireType === GROUP_START) groups++;
      else if (wireType === GROUP_END) {
        if (--groups < 0) throw new ProtobufError('unexpected end of group');
      } else this.#skipValue(wireType);
      if (groups === 0) return;
      wireType = this.#length() % 8;
    }
  }

  #skipValue(wireType: number): void {
    if (wireType === VARINT) this.#varint();
    else if (wireType === FIXED64) this.#advance(8);
    else if (wireType === DELIMITED) this.#advance(this.#length());
    else if (wireType === FIXED32) this.#advance(4);
    else throw new ProtobufError(`illegal wireType ${wireType}`);
  }

  #length(): number {
    const value = this.#varint();
    if (value < 0 || value >= EXACT_MAX) throw new ProtobufError('invalid length found during unmarshaling');
    return value;
  }

  #advance(length: number): void {
    if (length > this.#bytes.length - this.#position) throw new ProtobufError('unexpected EOF');
    this.#position += length;
  }

  #varint(): number {
    const start = this.#position;
    let value = 0;
    let scale = 1;
    for (let index = 0; index < EXACT_BYTES; index++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    this.#position = start;
    return Number(this.#bigVarint());
  }

  #bigVarint(): bigint {
    let value = 0n;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new ProtobufError('integer overflow');
  }

  #byte(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new ProtobufError('unexpected EOF');
    return byte;
  }
}

const BYTES_EXPECTED = 256;

/** Writes one message into a buffer that grows. Every field is written, also one with the zero value. */
export class WireWriter {
  #bytes: Buffer;
  #position = 0;

  constructor(bytesExpected: number = BYTES_EXPECTED) {
    this.#bytes = Buffer.allocUnsafe(bytesExpected);
  }

  /** Negative numbers take ten bytes, whatever their size. */
  number(field: number, value: number | bigint): this {
    this.#varint(field * 8 + VARINT);
    if (typeof value === 'number' && value >= 0) this.#varint(value);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  double(field: number, value: number): this {
    this.#varint(field * 8 + FIXED64);
    this.#reserve(8);
    this.#position = this.#bytes.writeDoubleLE(value, this.#position);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint(field * 8 + DELIMITED);
    this.#varint(value.length);
    return this.raw(value);
  }

  text(field: number, value: string): this {
    const length = Buffer.byteLength(value, 'utf8');
    this.#varint(field * 8 + DELIMITED);
    this.#varint(length);
    this.#reserve(length);
    this.#position += this.#bytes.write(value, this.#position, length, 'utf8');
    return this;
  }

  /** A message that `fill` writes into this same writer. */
  message(field: number, fill: (writer: this) => void): this {
    this.#varint(field * 8 + DELIMITED);
    this.#reserve(1);
    const lengthAt = this.#position++;
    fill(this);
    const start = lengthAt + 1;
    const length = this.#position - start;
    if (length < 0x80) {
      this.#bytes[lengthAt] = length;
      return this;
    }
    // The length takes more than the one byte that was left for it.
    const shift = varintBytes(length) - 1;
    this.#reserve(shift);
    this.#bytes.copyWithin(start + shift, start, this.#position);
    this.#position = lengthAt;
    this.#varint(length);
    this.#position += length;
    return this;
  }

  /** Bytes as they are, such as fields of another message. */
  raw(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#position);
    this.#position += value.length;
    return this;
  }

  /** The message, as a view of the buffer: the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#position);
  }

  #varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    let rest = value;
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 0x80)) this.#bytes[this.#position++] = (rest % 0x80) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#position++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#position++] = rest;
  }

  #bigVarint(value: bigint): void {
    this.#reserve(VARINT_BYTES_MAX);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#position++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#position++] = Number(rest);
  }

  #reserve(bytes: number): void {
    const needed = this.#position + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#position);
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

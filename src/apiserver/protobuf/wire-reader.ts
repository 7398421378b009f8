import { ProtobufError } from './protobuf-error.js';

export const VARINT = 0;
export const FIXED64 = 1;
export const DELIMITED = 2;
const GROUP_START = 3;
const GROUP_END = 4;
export const FIXED32 = 5;

const VARINT_BYTES_MAX = 10;
/** So many bytes of a varint fit a double exactly. */
const EXACT_BYTES = 7;

/** One message, field by field. Never reads beyond its bytes: what is cut short throws ProtobufError. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Of the field that `next` found. */
  number = 0;
  wireType = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** False at the end of the message. */
  next(): boolean {
    if (this.atEnd) return false;
    const tag = this.#length();
    this.number = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.number < 1 || tag > 0xffff_ffff) throw new ProtobufError('illegal tag');
    return true;
  }

  /** A varint as a signed whole number of 64 bits; what a double cannot hold loses its last digits, as in JSON. */
  int64(): number {
    const { value, rest } = this.#varint();
    return rest === 0n ? value : Number(BigInt.asIntN(64, BigInt(value) | (rest << 49n)));
  }

  int32(): number {
    const { value, rest } = this.#varint();
    return Number(BigInt.asIntN(32, BigInt(value) | (rest << 49n)));
  }

  bool(): boolean {
    const { value, rest } = this.#varint();
    return value !== 0 || rest !== 0n;
  }

  double(): number {
    const start = this.#at;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  /** A view, not a copy. */
  delimited(): Buffer {
    const length = this.#length();
    const start = this.#at;
    this.#advance(length);
    return this.#bytes.subarray(start, this.#at);
  }

  expect(wireType: number): void {
    if (this.wireType !== wireType)
      throw new ProtobufError(`wrong wireType = ${this.wireType} for field ${this.number}`);
  }

  /** Passes over the field that `next` found. */
  skip(): void {
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
    const { value, rest } = this.#varint();
    if (rest !== 0n) throw new ProtobufError('invalid length found during unmarshaling');
    return value;
  }

  #advance(bytes: number): void {
    if (bytes > this.#bytes.length - this.#at) throw new ProtobufError('unexpected EOF');
    this.#at += bytes;
  }

  /** The lowest 49 bits, and what lies above them. */
  #varint(): { value: number; rest: bigint } {
    let value = 0;
    let rest = 0n;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      if (this.atEnd) throw new ProtobufError('unexpected EOF');
      const byte = this.#bytes[this.#at++]!;
      if (index < EXACT_BYTES) value += (byte & 0x7f) * 2 ** (7 * index);
      else rest |= BigInt(byte & 0x7f) << BigInt(7 * (index - EXACT_BYTES));
      if (byte < 0x80) return { value, rest };
    }
    throw new ProtobufError('integer overflow');
  }
}

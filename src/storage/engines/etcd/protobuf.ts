/** As much of protobuf's wire format as etcd's messages need: varints, and things with a length. */

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

export class ProtobufWriter {
  readonly #chunks: Uint8Array[] = [];

  /** Nothing is written for 0, which is what an absent number means. */
  number(field: number, value: number | bigint): this {
    if (value === 0 || value === 0n) return this;
    this.#chunks.push(varint((field << 3) | VARINT), varint(value));
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#delimited(field, value);
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'));
  }

  /** Written even if empty: that a message is there says something. */
  message(field: number, value: ProtobufWriter): this {
    this.#delimited(field, value.finish());
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  #delimited(field: number, value: Uint8Array): void {
    this.#chunks.push(varint((field << 3) | DELIMITED), varint(value.length), value);
  }
}

function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  if (typeof value === 'number') {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  } else {
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  }
  return Uint8Array.from(bytes);
}

/**
 * Reads a message field by field: `while (reader.next())`, a switch on `reader.field`, and one reading of the field, or
 * none to pass it over. What it hands out are views of the message, not copies.
 */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #position = 0;
  #wireType = VARINT;
  #pending = false;
  field = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(): boolean {
    if (this.#pending) this.#skip();
    if (this.#position >= this.#bytes.length) return false;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    this.#pending = true;
    return true;
  }

  /** A number whose size fits; revisions, counts and lengths do. */
  number(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  /** A number that uses all 64 bits, such as a lease's name. */
  bigint(): bigint {
    this.#expect(VARINT);
    return this.#bigVarint();
  }

  flag(): boolean {
    return this.number() !== 0;
  }

  bytes(): Buffer {
    this.#expect(DELIMITED);
    const length = this.#varint();
    const start = this.#position;
    this.#advance(length);
    return this.#bytes.subarray(start, this.#position);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  message<T>(decode: (reader: ProtobufReader) => T): T {
    return decode(new ProtobufReader(this.bytes()));
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) throw new ProtobufError(`field ${this.field} has an unexpected form`);
    this.#pending = false;
  }

  #advance(length: number): void {
    if (length < 0 || length > this.#bytes.length - this.#position) throw new ProtobufError('the message is cut short');
    this.#position += length;
  }

  #skip(): void {
    this.#pending = false;
    if (this.#wireType === VARINT) this.#varint();
    else if (this.#wireType === DELIMITED) this.#advance(this.#varint());
    else if (this.#wireType === FIXED64) this.#advance(8);
    else if (this.#wireType === FIXED32) this.#advance(4);
    else throw new ProtobufError(`wire type ${this.#wireType} is unknown`);
  }

  #varint(): number {
    const start = this.#position;
    let value = 0;
    let scale = 1;
    // Seven bytes of seven bits each fit a number exactly; what is longer takes the slow way.
    for (let index = 0; index < 7; index++) {
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
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new ProtobufError('a number is longer than 64 bits');
  }

  #byte(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new ProtobufError('the message is cut short');
    return byte;
  }
}

export class ProtobufError extends Error {}

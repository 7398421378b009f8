import { DELIMITED, FIXED64, VARINT } from './wire-reader.js';

/** Gathers the fields of one message. */
export class WireWriter {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  delimited(number: number, value: Buffer): void {
    this.#push(varint((number << 3) | DELIMITED), varint(value.length), value);
  }

  string(number: number, value: string): void {
    this.delimited(number, Buffer.from(value, 'utf8'));
  }

  /** Negative numbers take ten bytes, whatever their size. */
  whole(number: number, value: number): void {
    this.#push(varint((number << 3) | VARINT), varint(value));
  }

  double(number: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#push(varint((number << 3) | FIXED64), bytes);
  }

  finish(): Buffer {
    return Buffer.concat(this.#chunks, this.#bytes);
  }

  #push(...chunks: Buffer[]): void {
    for (const chunk of chunks) {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
  }
}

function varint(value: number): Buffer {
  if (value >= 0 && value < 0x80) return Buffer.from([value]);
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

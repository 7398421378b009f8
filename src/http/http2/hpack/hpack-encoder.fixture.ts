import { HUFFMAN_CODE_BITS } from './huffman.js';
import { STATIC_NAMES, STATIC_VALUES } from './static-table.js';

/** Representation of one field. `indexed` without a matching table entry becomes a literal. */
export interface FieldChoice {
  readonly name: string;
  readonly value: string;
  readonly as: 'indexed' | 'kept' | 'plain' | 'never';
  readonly huffman: boolean;
}

/**
 * HPACK encoder with a dynamic table, as clients have and Straddle does not. Simple instead of
 * fast: the table is an array, newest entry first, and Huffman codes are strings of bits.
 */
export class TableEncoder {
  entries: { name: string; value: string }[] = [];
  bytesMax = 4096;

  resize(bytesMax: number): Buffer {
    this.bytesMax = bytesMax;
    this.#evict();
    return integer(0x20, 5, bytesMax);
  }

  encode(fields: readonly FieldChoice[]): Buffer {
    return Buffer.concat(fields.map((field) => this.#field(field)));
  }

  #field({ name, value, as, huffman }: FieldChoice): Buffer {
    const all = [
      ...STATIC_NAMES.slice(1).map((staticName, i) => ({ name: staticName, value: STATIC_VALUES[i + 1]! })),
      ...this.entries,
    ];
    const whole = all.findIndex((entry) => entry.name === name && entry.value === value) + 1;
    if (as === 'indexed' && whole > 0) return integer(0x80, 7, whole);
    const nameIndex = all.findLastIndex((entry) => entry.name === name) + 1;
    const first = as === 'kept' ? integer(0x40, 6, nameIndex) : integer(as === 'never' ? 0x10 : 0, 4, nameIndex);
    if (as === 'kept') {
      this.entries.unshift({ name, value });
      this.#evict();
    }
    return Buffer.concat([first, nameIndex === 0 ? text(name, huffman) : Buffer.alloc(0), text(value, huffman)]);
  }

  #evict(): void {
    const size = () => this.entries.reduce((sum, { name, value }) => sum + name.length + value.length + 32, 0);
    while (size() > this.bytesMax) this.entries.pop();
  }
}

/** Encodes an integer (RFC 7541, 5.1). */
export function integer(flags: number, prefixBits: number, value: number): Buffer {
  const mask = 2 ** prefixBits - 1;
  if (value < mask) return Buffer.of(flags | value);
  const octets = [flags | mask];
  let rest = value - mask;
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push(128 + (rest % 128));
  return Buffer.from([...octets, rest]);
}

/** Encodes a string (RFC 7541, 5.2). */
export function text(value: string, huffman = false): Buffer {
  const octets = huffman ? huffmanCoded(value) : Buffer.from(value, 'latin1');
  return Buffer.concat([integer(huffman ? 0x80 : 0, 7, octets.length), octets]);
}

/** Huffman-encodes a string, padded with ones, the first bits of EOS (RFC 7541, 5.2). */
export function huffmanCoded(value: string): Buffer {
  const bits = Array.from(Buffer.from(value, 'latin1'), (octet) => HUFFMAN_CODES[octet]!).join('');
  return bitsToBytes(bits.padEnd(Math.ceil(bits.length / 8) * 8, '1'));
}

export function bitsToBytes(bits: string): Buffer {
  return Buffer.from(
    Array.from({ length: bits.length / 8 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2)),
  );
}

/** Huffman codes as strings of bits, indexed by octet; EOS is the last. */
export const HUFFMAN_CODES: readonly string[] = canonicalCodes(HUFFMAN_CODE_BITS);

function canonicalCodes(lengths: readonly number[]): string[] {
  const codes: string[] = [];
  let next = 0;
  for (let bits = 1; bits <= Math.max(...lengths); bits++) {
    next *= 2;
    lengths.forEach((length, symbol) => {
      if (length === bits) codes[symbol] = (next++).toString(2).padStart(bits, '0');
    });
  }
  return codes;
}

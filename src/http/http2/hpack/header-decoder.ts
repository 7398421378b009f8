import { DynamicTable, ENTRY_OVERHEAD_BYTES } from './dynamic-table.js';
import { HpackError } from './hpack-error.js';
import { decodeHuffman, huffmanRoomBytes } from './huffman.js';
import { STATIC_LAST, STATIC_NAMES, STATIC_VALUES } from './static-table.js';

export { HpackError } from './hpack-error.js';

export interface DecodedFields {
  /**
   * Alternating names and values as on the wire (latin1), not validated. The caller may keep and
   * modify the array. Truncated at the field that exceeded a limit.
   */
  readonly fields: string[];
  /** Header list size (RFC 9113, 10.5.1): bytes and 32 for each field, dropped ones included. */
  readonly listBytes: number;
  /** A limit was exceeded. The block was still decoded, to keep the table in step. */
  readonly tooLarge: boolean;
}

export interface HeaderDecoderLimits {
  /** SETTINGS_HEADER_TABLE_SIZE sent to the client. */
  readonly tableBytesMax: number;
  readonly listBytesMax: number;
  /** Pseudo-headers included. */
  readonly fieldsMax: number;
}

/**
 * Initial table size (RFC 9113, 6.5.2). The client uses it until it has read the server's SETTINGS,
 * even if those announce less.
 */
const TABLE_BYTES_AT_FIRST = 4096;

/** Bound on table size updates in a block; RFC 7541, 4.2 requires at most two. */
const TABLE_UPDATES_PER_BLOCK_MAX = 4;

/** Limit on integers, as RFC 7541, 5.1 asks: 28 bits, more than the length of any block. */
const INTEGER_CONTINUATION_BYTES_MAX = 4;

/** Shared buffer for Huffman decoding; a longer string gets a temporary one. */
const SCRATCH = Buffer.allocUnsafeSlow(8192);

/** HPACK decoder (RFC 7541) with the dynamic table of one connection; unusable after an error. */
export class HeaderDecoder {
  private readonly table = new DynamicTable(TABLE_BYTES_AT_FIRST);
  private readonly limits: HeaderDecoderLimits;
  private block: Buffer = SCRATCH;
  private position = 0;

  constructor(limits: HeaderDecoderLimits) {
    this.limits = limits;
  }

  /** Decodes one block: the joined fragments of HEADERS and CONTINUATION. Throws HpackError. */
  decode(block: Buffer): DecodedFields {
    this.block = block;
    this.position = 0;
    this.readTableUpdates();
    const { listBytesMax, fieldsMax } = this.limits;
    const { table } = this;
    const fields: string[] = [];
    let listBytes = 0;
    let count = 0;
    while (this.position < block.length) {
      const first = block[this.position]!;
      let name: string;
      let value: string;
      if (first >= 0x80) {
        const index = this.readInteger(0x7f);
        if (index <= STATIC_LAST) {
          if (index === 0) throw new HpackError('invalid index 0');
          name = STATIC_NAMES[index]!;
          value = STATIC_VALUES[index]!;
        } else {
          const slot = this.slotOf(index);
          name = table.nameAt(slot);
          value = table.valueAt(slot);
        }
      } else if (first >= 0x40) {
        name = this.readName(0x3f);
        value = this.readString();
        table.add(name, value);
      } else if (first >= 0x20) {
        throw new HpackError('table size update after a field');
      } else {
        // Never-indexed literals are decoded like others; they differ only when encoded again.
        name = this.readName(0x0f);
        value = this.readString();
      }
      listBytes += name.length + value.length + ENTRY_OVERHEAD_BYTES;
      count++;
      if (listBytes <= listBytesMax && count <= fieldsMax) fields.push(name, value);
    }
    this.block = SCRATCH;
    return { fields, listBytes, tooLarge: listBytes > listBytesMax || count > fieldsMax };
  }

  private readTableUpdates(): void {
    const { block } = this;
    for (let updates = 1; this.position < block.length && block[this.position]! >> 5 === 1; updates++) {
      if (updates > TABLE_UPDATES_PER_BLOCK_MAX) throw new HpackError('too many table size updates');
      const bytesMax = this.readInteger(0x1f);
      if (bytesMax > this.limits.tableBytesMax)
        throw new HpackError('table size update above SETTINGS_HEADER_TABLE_SIZE');
      this.table.resize(bytesMax);
    }
  }

  private slotOf(index: number): number {
    const slot = this.table.slotOf(index);
    if (slot < 0) throw new HpackError(`index ${index} is beyond the dynamic table`);
    return slot;
  }

  private readName(prefixMask: number): string {
    const index = this.readInteger(prefixMask);
    if (index === 0) return this.readString();
    return index <= STATIC_LAST ? STATIC_NAMES[index]! : this.table.nameAt(this.slotOf(index));
  }

  private readString(): string {
    const { block } = this;
    const huffman = block[this.position]! >= 0x80;
    const length = this.readInteger(0x7f);
    const start = this.position;
    const end = start + length;
    if (end > block.length) throw new HpackError('string exceeds the header block');
    this.position = end;
    if (!huffman) return block.toString('latin1', start, end);
    const roomBytes = huffmanRoomBytes(length);
    const scratch = roomBytes <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(roomBytes);
    return scratch.toString('latin1', 0, decodeHuffman(block, start, end, scratch));
  }

  /** Reads an integer (RFC 7541, 5.1). A prefix equal to the mask means that more octets follow. */
  private readInteger(prefixMask: number): number {
    const { block } = this;
    if (this.position >= block.length) throw new HpackError('header block ends within a field');
    let value = block[this.position++]! & prefixMask;
    if (value < prefixMask) return value;
    for (let i = 0; i < INTEGER_CONTINUATION_BYTES_MAX; i++) {
      if (this.position >= block.length) throw new HpackError('header block ends within an integer');
      const octet = block[this.position++]!;
      value += (octet & 0x7f) << (7 * i);
      if (octet < 0x80) return value;
    }
    throw new HpackError('integer is too large');
  }
}

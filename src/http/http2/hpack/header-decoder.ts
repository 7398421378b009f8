import { HpackError } from '../../../http2/hpack/hpack-error.js';
import { DynamicTable, ENTRY_OVERHEAD_BYTES } from './dynamic-table.js';
import { decodeHuffman, huffmanRoomBytes } from './huffman.js';
import { STATIC_LAST, STATIC_NAMES, STATIC_VALUES } from './static-table.js';

export { HpackError } from '../../../http2/hpack/hpack-error.js';

export interface DecodedFields {
  /**
   * Name, value, name, value, … as on the wire (latin1); nothing is said about whether they are valid. The caller's own,
   * to keep and to change. Cut short where a limit was passed.
   */
  readonly fields: string[];
  /** RFC 9113, 10.5.1: names and values, and 32 for each field. Goes on counting where fields are no longer kept. */
  readonly listBytes: number;
  /** A limit was passed. The block was read to its end all the same, or later ones would be read wrongly. */
  readonly tooLarge: boolean;
}

export interface HeaderDecoderLimits {
  /** What was announced as SETTINGS_HEADER_TABLE_SIZE. */
  readonly tableBytesMax: number;
  readonly listBytesMax: number;
  /** Pseudo-headers count too. */
  readonly fieldsMax: number;
}

/**
 * RFC 9113, 6.5.2: the table has this size until the client says otherwise, and that it may do only once it has seen what
 * was announced. A client may therefore use so much even where less was announced.
 */
const TABLE_BYTES_AT_FIRST = 4096;

/** RFC 7541, 4.2: two are enough for any history of changes, the smallest and the last. */
const TABLE_UPDATES_PER_BLOCK_MAX = 4;

/** RFC 7541, 5.1 asks for a limit. These carry 28 bits, and no block is as long as that. */
const INTEGER_CONTINUATION_BYTES_MAX = 4;

/** Strings of nearly all requests fit; a longer one gets room of its own for a moment. */
const SCRATCH = Buffer.allocUnsafeSlow(8192);

/** RFC 7541. One for each connection, as the dynamic table lives as long; no more to be used after it has thrown. */
export class HeaderDecoder {
  private readonly table = new DynamicTable(TABLE_BYTES_AT_FIRST);
  private readonly limits: HeaderDecoderLimits;
  private block: Buffer = SCRATCH;
  private position = 0;

  constructor(limits: HeaderDecoderLimits) {
    this.limits = limits;
  }

  /** One whole header block: the fragments of HEADERS and CONTINUATION joined. Throws HpackError and nothing else. */
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
          if (index === 0) throw new HpackError('index 0 names no entry');
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
        throw new HpackError('the table is resized in the middle of a block');
      } else {
        // Literals never to be indexed differ only for whoever encodes them anew.
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
      if (updates > TABLE_UPDATES_PER_BLOCK_MAX) throw new HpackError('the table is resized over and over');
      const bytesMax = this.readInteger(0x1f);
      if (bytesMax > this.limits.tableBytesMax) throw new HpackError('the table is made larger than was offered');
      this.table.resize(bytesMax);
    }
  }

  private slotOf(index: number): number {
    const slot = this.table.slotOf(index);
    if (slot < 0) throw new HpackError(`index ${index} is beyond the table`);
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
    if (end > block.length) throw new HpackError('a string is longer than its block');
    this.position = end;
    if (!huffman) return block.toString('latin1', start, end);
    const roomBytes = huffmanRoomBytes(length);
    const scratch = roomBytes <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(roomBytes);
    return scratch.toString('latin1', 0, decodeHuffman(block, start, end, scratch));
  }

  /** RFC 7541, 5.1. The mask is also the value that says more octets follow. */
  private readInteger(prefixMask: number): number {
    const { block } = this;
    if (this.position >= block.length) throw new HpackError('the block ends within a field');
    let value = block[this.position++]! & prefixMask;
    if (value < prefixMask) return value;
    for (let i = 0; i < INTEGER_CONTINUATION_BYTES_MAX; i++) {
      if (this.position >= block.length) throw new HpackError('the block ends within a number');
      const octet = block[this.position++]!;
      value += (octet & 0x7f) << (7 * i);
      if (octet < 0x80) return value;
    }
    throw new HpackError('a number is too large');
  }
}

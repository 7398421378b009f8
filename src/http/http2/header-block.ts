import { type DecodedFields, HeaderDecoder } from './hpack/header-decoder.js';
import { HpackError } from './hpack/hpack-error.js';
import {
  CONTINUATION_BYTES_USUAL,
  HEADER_BLOCK_EXCESS_BYTES_MAX,
  HEADER_BLOCK_FACTOR,
  HEADER_TABLE_BYTES,
  type LargeHeads,
  type OpenBlock,
  type ServerConnectionLimits,
} from './http2-limits.js';
import { ConnectionError, ErrorCode, FRAME_PAYLOAD_BYTES_MAX } from './protocol.js';

/** Assembles and decodes header blocks (HEADERS, CONTINUATION), one at a time. */
export class HeaderBlocks implements OpenBlock {
  readonly #decoder: HeaderDecoder;
  readonly #bytesMax: number;
  readonly #piecesMax: number;
  #pieces: Buffer[] | undefined;
  #bytes = 0;
  #streamId = 0;
  #endStream = false;
  #completed = 0;

  readonly #large: LargeHeads | undefined;
  readonly #failed: (error: ConnectionError) => void;

  constructor(limits: ServerConnectionLimits, large: LargeHeads | undefined, failed: (error: ConnectionError) => void) {
    this.#large = large;
    this.#failed = failed;
    this.#decoder = new HeaderDecoder({
      tableBytesMax: HEADER_TABLE_BYTES,
      listBytesMax: limits.headerBytesMax,
      fieldsMax: limits.headersCountMax,
    });
    const listBytesMax = Math.max(FRAME_PAYLOAD_BYTES_MAX, limits.headerBytesMax);
    this.#bytesMax = Math.min(listBytesMax * HEADER_BLOCK_FACTOR, listBytesMax + HEADER_BLOCK_EXCESS_BYTES_MAX);
    this.#piecesMax = Math.ceil(this.#bytesMax / CONTINUATION_BYTES_USUAL);
  }

  /** Stream id of the incomplete block, or 0; no other frame may come (RFC 9113, 4.3). */
  get openFor(): number {
    return this.#streamId;
  }

  /** END_STREAM flag of the HEADERS frame that started the open block. */
  get endStream(): boolean {
    return this.#endStream;
  }

  /** Number of blocks decoded so far; identifies the open block for ConnectionDeadlines. */
  get completed(): number {
    return this.#completed;
  }

  begin(streamId: number, endStream: boolean, piece: Buffer): void {
    this.#streamId = streamId;
    this.#endStream = endStream;
    this.#pieces = [];
    this.#bytes = 0;
    this.add(piece);
  }

  add(piece: Buffer): void {
    const pieces = this.#pieces!;
    this.#bytes += piece.length;
    if (this.#bytes > this.#bytesMax || pieces.length >= this.#piecesMax) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'header block is too large');
    }
    // Copied: a small fragment must not keep the whole read buffer alive.
    pieces.push(Buffer.from(piece));
    if (this.#large && !this.#large.blockGrew(this, this.#bytes)) throw displaced();
  }

  displace(): void {
    this.#failed(displaced());
  }

  /** Drops the incomplete block; no further one may begin. */
  stop(): void {
    this.#large?.blockEnded(this);
    this.#pieces = undefined;
  }

  end(): DecodedFields {
    const block = Buffer.concat(this.#pieces!, this.#bytes);
    this.#pieces = undefined;
    this.#streamId = 0;
    this.#large?.blockEnded(this);
    return this.decode(block);
  }

  decode(block: Buffer): DecodedFields {
    this.#completed++;
    try {
      return this.#decoder.decode(block);
    } catch (error) {
      if (error instanceof HpackError) throw new ConnectionError(ErrorCode.compressionError, error.message);
      throw error;
    }
  }
}

function displaced(): ConnectionError {
  return new ConnectionError(
    ErrorCode.enhanceYourCalm,
    'no memory for this header block: too many large header blocks are incomplete',
  );
}

import { ANSWER_EARNS, BROKEN_STREAM_COST, type FloodBudget, IDLE_FRAME_COST } from './flood-budget.js';
import type { HeaderBlocks } from './header-block.js';
import type { DecodedFields } from './hpack/header-decoder.js';
import {
  CONNECTION_HEADS_BYTES_MIN,
  CONNECTION_HEADS_FACTOR,
  type LargeHeads,
  type ServerConnectionLimits,
} from './http2-limits.js';
import { IncomingBody } from './incoming-body.js';
import { ConnectionError, DEFAULT_WINDOW_BYTES, ErrorCode, Flag, readUint31, WINDOW_BYTES_MAX } from './protocol.js';
import { ReceiveWindow } from './receive-window.js';
import { areTrailers, readRequestHead } from './request-head.js';
import { writeHead } from './response-head.js';
import type { Sender } from './sender.js';
import { ServerStream, type StreamOwner } from './server-stream.js';
import { StreamTable } from './stream-table.js';

/**
 * Why the head of a request is refused: it has too many bytes or fields, or the heads of the connection's open streams together
 * are too large. `LargeHeads` reports its own refusals.
 */
export type HeadRefusal = 'bytes' | 'fields' | 'sum';

export interface StreamSetParts {
  readonly limits: ServerConnectionLimits;
  readonly largeHeads: LargeHeads | undefined;
  readonly blocks: HeaderBlocks;
  readonly budget: FloodBudget;
  /** Budget for reset streams. DATA earns nothing: one download would pay for thousands. */
  readonly brokenBudget: FloodBudget;
  readonly sender: Sender;
  request(stream: ServerStream): void;
  headRefused(by: HeadRefusal): void;
  /** Called when the last open stream was closed. */
  emptied(): void;
  /** Called when a stream was reset because its client makes no progress. */
  stalled(): void;
}

/** Number of reset streams remembered, because frames for them may still be in flight. */
const RESET_REMEMBERED_PER_STREAM = 2;
const RESET_REMEMBERED_MIN = 100;

/** Streams of one connection, and handling of the frames that refer to a stream (RFC 9113, 5.1). */
export class StreamSet implements StreamOwner {
  readonly #parts: StreamSetParts;
  readonly #window: ReceiveWindow;
  readonly #streams = new StreamTable();
  readonly #reset = new Set<number>();
  readonly #resetMax: number;
  /** Bound on `#headBytes`, the sum of the heads of the open streams. */
  readonly #headBytesMax: number;
  #headBytes = 0;
  #lastId = 0;
  #refusedAbove = Number.POSITIVE_INFINITY;
  #initialSendWindow = DEFAULT_WINDOW_BYTES;

  constructor(parts: StreamSetParts) {
    this.#parts = parts;
    this.#window = new ReceiveWindow(parts.sender);
    this.#resetMax = RESET_REMEMBERED_MIN + RESET_REMEMBERED_PER_STREAM * parts.limits.streamsMax;
    this.#headBytesMax = Math.max(CONNECTION_HEADS_BYTES_MIN, CONNECTION_HEADS_FACTOR * parts.limits.headerBytesMax);
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Highest stream id that was or may be served; never above one in a GOAWAY (RFC 9113, 6.8). */
  get lastId(): number {
    return Math.min(this.#lastId, this.#refusedAbove);
  }

  /** Ignores streams opened from now on, as announced by GOAWAY. */
  refuseNew(): void {
    this.#refusedAbove = this.#lastId;
  }

  data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const frameBytes = end - start;
    const stream = this.#streams.get(id);
    if (!stream) this.#checkNotIdle(id);
    this.#window.received(frameBytes);
    const padding = paddingOf(flags, bytes, start, end);
    if (!stream) {
      this.#window.giveBack(undefined, frameBytes);
      this.#dataOnClosed(id);
    } else if (stream.remoteEnded) {
      this.#window.giveBack(undefined, frameBytes);
      this.#breakStream(stream, ErrorCode.streamClosed);
    } else if (stream.receiveWindow < frameBytes) {
      this.#window.giveBack(undefined, frameBytes);
      this.#breakStream(stream, ErrorCode.flowControlError);
    } else {
      const from = (flags & Flag.padded) !== 0 ? start + 1 : start;
      stream.receiveWindow -= frameBytes;
      this.#takeData(stream, flags, { bytes, start: from, end: end - padding, frameBytes });
    }
  }

  headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if ((id & 1) === 0)
      throw new ConnectionError(ErrorCode.protocolError, 'HEADERS on a stream id that clients cannot open');
    const padding = paddingOf(flags, bytes, start, end);
    let from = (flags & Flag.padded) !== 0 ? start + 1 : start;
    if ((flags & Flag.priority) !== 0) from += PRIORITY_BYTES;
    const to = end - padding;
    if (from > to) throw new ConnectionError(ErrorCode.frameSizeError, 'HEADERS is too short');
    const block = bytes.subarray(from, to);
    const endStream = (flags & Flag.endStream) !== 0;
    const { blocks } = this.#parts;
    if ((flags & Flag.endHeaders) === 0) blocks.begin(id, endStream, block);
    else this.#headersComplete(id, endStream, blocks.decode(block));
  }

  continuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const { blocks, budget } = this.#parts;
    if (start === end) budget.spend(IDLE_FRAME_COST);
    const id = blocks.openFor;
    if (id === 0) throw new ConnectionError(ErrorCode.protocolError, 'CONTINUATION without an open header block');
    blocks.add(bytes.subarray(start, end));
    if ((flags & Flag.endHeaders) !== 0) this.#headersComplete(id, blocks.endStream, blocks.end());
  }

  /** Validates PRIORITY, which has no effect (RFC 9113, 5.3.2). */
  priority(id: number, length: number): void {
    this.#parts.budget.spend(IDLE_FRAME_COST);
    if (id === 0) throw new ConnectionError(ErrorCode.protocolError, 'PRIORITY on stream 0');
    if (length === PRIORITY_BYTES) return;
    const stream = this.#streams.get(id);
    if (!stream) throw new ConnectionError(ErrorCode.frameSizeError, 'PRIORITY has an invalid length');
    this.#breakStream(stream, ErrorCode.frameSizeError);
  }

  rstStream(id: number, length: number): void {
    if (length !== 4) throw new ConnectionError(ErrorCode.frameSizeError, 'RST_STREAM has an invalid length');
    const stream = this.#streams.get(id);
    if (!stream) {
      this.#checkNotIdle(id);
      this.#parts.budget.spend(IDLE_FRAME_COST);
      return;
    }
    this.#parts.brokenBudget.spend(BROKEN_STREAM_COST);
    this.#close(stream);
  }

  windowUpdate(id: number, bytes: Buffer, start: number): void {
    const stream = this.#streams.get(id);
    if (!stream) {
      this.#checkNotIdle(id);
      return;
    }
    const increment = readUint31(bytes, start);
    if (increment === 0) this.#breakStream(stream, ErrorCode.protocolError);
    else if (stream.sendWindow + increment > WINDOW_BYTES_MAX) this.#breakStream(stream, ErrorCode.flowControlError);
    else {
      stream.sendWindow += increment;
      if (stream.unsentBytes > 0) this.#parts.sender.wake(stream);
    }
  }

  /** Applies SETTINGS_INITIAL_WINDOW_SIZE; windows may become negative (RFC 9113, 6.9.2). */
  changeInitialWindow(bytes: number): void {
    const difference = bytes - this.#initialSendWindow;
    this.#initialSendWindow = bytes;
    for (const stream of this.#streams.all()) {
      stream.sendWindow += difference;
      if (stream.sendWindow > WINDOW_BYTES_MAX) {
        throw new ConnectionError(ErrorCode.flowControlError, 'flow-control window of a stream exceeds 2^31-1');
      }
      if (stream.unsentBytes > 0) this.#parts.sender.wake(stream);
    }
  }

  reset(stream: ServerStream, code: number): void {
    this.#rst(stream.id, code);
    this.#close(stream);
  }

  resetStalled(stream: ServerStream): void {
    this.reset(stream, ErrorCode.cancel);
    this.#parts.stalled();
  }

  /** Closes a stream whose whole response was passed to the connection. */
  answered(stream: ServerStream): void {
    this.#parts.brokenBudget.earn(ANSWER_EARNS);
    // RFC 9113, 8.1: RST_STREAM NO_ERROR asks the client to stop sending the request body.
    if (!stream.remoteEnded) this.#rst(stream.id, ErrorCode.noError);
    this.#close(stream);
  }

  closeAll(): void {
    for (const stream of this.#streams.all()) this.#close(stream);
  }

  #takeData(
    stream: ServerStream,
    flags: number,
    data: { bytes: Buffer; start: number; end: number; frameBytes: number },
  ): void {
    const { start, end, frameBytes } = data;
    const length = end - start;
    if (frameBytes > length) this.#window.giveBack(stream, frameBytes - length);
    stream.receivedBytes += length;
    const endStream = (flags & Flag.endStream) !== 0;
    if (length === 0 && !endStream) this.#parts.budget.spend(IDLE_FRAME_COST);
    if (stream.expectedBytes >= 0 && stream.receivedBytes > stream.expectedBytes) {
      this.#window.giveBack(undefined, length);
      this.#breakStream(stream, ErrorCode.protocolError);
      return;
    }
    stream.incoming!.add(data.bytes, start, end);
    if (endStream) this.#requestEnded(stream);
  }

  #requestEnded(stream: ServerStream): void {
    // The reader of the last bytes may have reset the stream.
    if (!stream.open) return;
    if (stream.expectedBytes >= 0 && stream.receivedBytes !== stream.expectedBytes) {
      this.#breakStream(stream, ErrorCode.protocolError);
      return;
    }
    stream.remoteEnded = true;
    stream.incoming!.finish();
  }

  #headersComplete(id: number, endStream: boolean, decoded: DecodedFields): void {
    const stream = this.#streams.get(id);
    if (stream) this.#trailers(stream, endStream, decoded);
    else if (id > this.#lastId) this.#open(id, endStream, decoded);
    else if (this.#reset.has(id)) this.#parts.budget.spend(IDLE_FRAME_COST);
    else throw new ConnectionError(ErrorCode.streamClosed, 'HEADERS on a closed stream');
  }

  /** Validates and drops trailers: they are not forwarded. */
  #trailers(stream: ServerStream, endStream: boolean, decoded: DecodedFields): void {
    if (stream.remoteEnded) this.#breakStream(stream, ErrorCode.streamClosed);
    else if (!endStream || decoded.tooLarge || !areTrailers(decoded.fields)) {
      this.#breakStream(stream, ErrorCode.protocolError);
    } else this.#requestEnded(stream);
  }

  #open(id: number, endStream: boolean, decoded: DecodedFields): void {
    this.#lastId = id;
    const { limits, sender } = this.#parts;
    if (id > this.#refusedAbove) {
      this.#remember(id);
      this.#parts.budget.spend(IDLE_FRAME_COST);
      return;
    }
    if (this.#streams.size >= limits.streamsMax) {
      this.#parts.budget.spend(IDLE_FRAME_COST);
      this.#rst(id, ErrorCode.refusedStream);
      return;
    }
    if (decoded.tooLarge) {
      this.#refuseLarge(id, endStream, decoded.listBytes > limits.headerBytesMax);
      return;
    }
    const head = readRequestHead(decoded.fields);
    if (typeof head === 'string' || (endStream && head.contentLength > 0)) {
      this.#refuse(id, ErrorCode.protocolError);
      return;
    }
    if (!this.#holdHead(decoded.listBytes)) {
      this.#parts.budget.spend(IDLE_FRAME_COST);
      this.#rst(id, ErrorCode.refusedStream);
      return;
    }
    const stream = new ServerStream(id, head, {
      owner: this,
      sender,
      headBytes: decoded.listBytes,
      sendWindow: this.#initialSendWindow,
      remoteEnded: endStream,
    });
    if (!endStream) {
      const firstRead = head.expectsContinue ? () => stream.askForBody() : undefined;
      stream.incoming = new IncomingBody((bytes) => this.#window.giveBack(stream, bytes), firstRead);
    }
    this.#streams.add(stream);
    this.#parts.request(stream);
  }

  /** Counts the head of a stream until `#close`; returns false if there is no room for it. */
  #holdHead(bytes: number): boolean {
    const { largeHeads, headRefused } = this.#parts;
    if (this.#headBytes + bytes > this.#headBytesMax) {
      headRefused('sum');
      return false;
    }
    if (largeHeads && !largeHeads.take(bytes)) return false;
    this.#headBytes += bytes;
    return true;
  }

  #refuseLarge(id: number, endStream: boolean, tooManyBytes: boolean): void {
    this.#parts.headRefused(tooManyBytes ? 'bytes' : 'fields');
    if (!tooManyBytes) {
      this.#refuse(id, ErrorCode.enhanceYourCalm);
      return;
    }
    this.#parts.brokenBudget.spend(BROKEN_STREAM_COST);
    const { sender } = this.#parts;
    const { tableUnused } = sender;
    writeHead(sender.control(), { streamId: id, status: 431, fields: [], endStream: true, tableUnused });
    sender.tableUnused = false;
    if (!endStream) this.#rst(id, ErrorCode.noError);
  }

  #dataOnClosed(id: number): void {
    if (this.#reset.has(id)) this.#parts.budget.spend(IDLE_FRAME_COST);
    else this.#refuse(id, ErrorCode.streamClosed);
  }

  #checkNotIdle(id: number): void {
    if (id > this.#lastId || (id & 1) === 0) {
      throw new ConnectionError(ErrorCode.protocolError, 'frame on an idle stream');
    }
  }

  /** Resets a stream for the client's error, at a cost: endless new requests use up tokens. */
  #breakStream(stream: ServerStream, code: number): void {
    this.#parts.brokenBudget.spend(BROKEN_STREAM_COST);
    this.reset(stream, code);
  }

  #refuse(id: number, code: number): void {
    this.#parts.brokenBudget.spend(BROKEN_STREAM_COST);
    this.#rst(id, code);
  }

  #rst(id: number, code: number): void {
    this.#parts.sender.control().rstStream(id, code);
    this.#remember(id);
  }

  #remember(id: number): void {
    if (this.#reset.size >= this.#resetMax) {
      const [oldest] = this.#reset;
      this.#reset.delete(oldest!);
    }
    this.#reset.add(id);
  }

  #close(stream: ServerStream): void {
    if (!this.#streams.delete(stream)) return;
    stream.open = false;
    this.#headBytes -= stream.headBytes;
    this.#parts.largeHeads?.giveBack(stream.headBytes);
    this.#parts.sender.forget(stream);
    stream.incoming?.breakOff();
    stream.receiver?.closed();
    if (this.#streams.size === 0) this.#parts.emptied();
  }
}

const PRIORITY_BYTES = 5;

/** Returns the number of padding bytes at the end of a frame. */
function paddingOf(flags: number, bytes: Buffer, start: number, end: number): number {
  if ((flags & Flag.padded) === 0) return 0;
  if (start === end) throw new ConnectionError(ErrorCode.frameSizeError, 'PADDED flag without a pad length');
  const padding = bytes[start]!;
  if (start + 1 + padding > end) throw new ConnectionError(ErrorCode.protocolError, 'padding exceeds the frame');
  return padding;
}

import type { Duplex } from 'node:stream';
import { CONNECTION_UNSENT_BYTES_MAX, CONTROL_UNSENT_BYTES_MAX } from '../../http2/limits.js';
import { ANSWER_EARNS, BYTES_PER_TOKEN, DATA_FRAME_EARNS, DRIBBLE_BYTES, type FloodBudget } from './flood-budget.js';
import {
  ConnectionError,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FRAME_PAYLOAD_BYTES_MAX,
  FrameType,
  WINDOW_BYTES_MAX,
  writeFrameHeader,
} from './protocol.js';
import { headFrames, writeHead } from './response-head.js';
import type { ServerStream, StreamSender } from './server-stream.js';
import { Outbound } from './write-buffer.js';

export interface SenderEvents {
  /** A stream's last frame is about to go out; what is added now goes with it. */
  answered(stream: ServerStream): void;
  /** Everything that could be sent was handed to the socket. */
  flushed(): void;
  failed(error: unknown): void;
}

/** More of a chunk than this is passed on where it lies; measured with TLS, which joins the pieces in any case. */
const COPIED_BYTES_MAX = 4 * 1024;
/**
 * Less than this is copied out of its slab when other bytes wait before it: the slab would live for as long as the client
 * does not read, with all that other connections have written there.
 */
const LEFT_IN_SLAB_BYTES_MIN = 16 * 1024;

/** Connections with something to send at the end of this turn of the event loop: one immediate for all of them. */
let waiting: Sender[] = [];

function flushWaiting(): void {
  const senders = waiting;
  waiting = [];
  for (const sender of senders) sender.flush();
}

/**
 * Puts answers on a connection: all of one turn of the event loop in one write, streams in turn frame by frame, within
 * the client's windows and ahead of the kernel by no more than a bound.
 */
export class Sender implements StreamSender {
  /** RFC 7541, 4.2: to be said once, before the next head. */
  tableUnused = false;
  private readonly socket: Duplex;
  private readonly budget: FloodBudget;
  private readonly events: SenderEvents;
  private readonly outbound = new Outbound();
  private window = DEFAULT_WINDOW_BYTES;
  /** Streams with something to send, next first, each once; and those that wait for the connection's window only. */
  private ready: ServerStream[] = [];
  private readonly starved = new Set<ServerStream>();
  private finished: ServerStream[] = [];
  private relieved: ServerStream[] = [];
  /** Bytes handed to the socket, and what of them the client had taken when it last took some, and when that was. */
  private writtenBytes = 0;
  private takenBytes = 0;
  private takenAtMs = -1;
  private scheduled = false;
  private stopped = false;

  constructor(socket: Duplex, budget: FloodBudget, events: SenderEvents) {
    this.socket = socket;
    this.budget = budget;
    this.events = events;
  }

  head(stream: ServerStream, status: number, fields: readonly string[], endStream: boolean): void {
    const frame = { streamId: stream.id, status, fields, endStream, tableUnused: this.tableUnused };
    if (this.isFull()) {
      // Always said there: the client may make its table smaller while this waits.
      stream.headFrames = headFrames({ ...frame, tableUnused: true });
      stream.endsWithHead = endStream;
      this.wake(stream);
      return;
    }
    writeHead(this.outbound, frame);
    this.tableUnused = false;
    if (endStream) this.finish(stream);
    this.schedule();
  }

  wake(stream: ServerStream): void {
    this.enqueue(stream);
    this.schedule();
  }

  forget(stream: ServerStream): void {
    if (stream.queued) this.ready.splice(this.ready.indexOf(stream), 1);
    stream.queued = false;
    this.starved.delete(stream);
    stream.dropUnsent();
  }

  /** For frames that the client causes, or that answer it: it must read them, or its connection ends. */
  control(): Outbound {
    if (this.unsentBytes() > CONNECTION_UNSENT_BYTES_MAX + CONTROL_UNSENT_BYTES_MAX && !this.stopped) {
      // Not thrown: whoever reads a body or breaks an answer off must not hear of it.
      this.events.failed(new ConnectionError(ErrorCode.enhanceYourCalm, 'the client does not read what it asks for'));
    }
    this.schedule();
    return this.outbound;
  }

  /** For what is said before the end, however much waits. */
  lastWord(): Outbound {
    return this.outbound;
  }

  enlargeWindow(increment: number): void {
    this.window += increment;
    if (this.window > WINDOW_BYTES_MAX)
      throw new ConnectionError(ErrorCode.flowControlError, 'the window is too large');
    if (this.starved.size === 0) return;
    for (const stream of this.starved) this.enqueue(stream);
    this.starved.clear();
    this.schedule();
  }

  flush(): void {
    this.scheduled = false;
    if (this.stopped) return;
    try {
      this.sendInTurn();
      this.settleFinished();
      this.write();
      this.events.flushed();
      this.tellRelieved();
    } catch (error) {
      this.events.failed(error);
    }
  }

  /** Whether bytes have waited in the socket for so long that the client cannot be reading. */
  isStalled(nowMs: number, progressMs: number): boolean {
    const waitingBytes = this.socket.writableLength;
    const takenBytes = this.writtenBytes - waitingBytes;
    if (waitingBytes === 0 || takenBytes > this.takenBytes || this.takenAtMs < 0) {
      this.takenBytes = takenBytes;
      this.takenAtMs = nowMs;
      return false;
    }
    return nowMs - this.takenAtMs >= progressMs;
  }

  /** Writes what there is and nothing after it. */
  end(): void {
    if (this.stopped) return;
    this.write();
    this.stop();
    this.socket.end();
  }

  stop(): void {
    this.stopped = true;
    this.ready = [];
    this.starved.clear();
    this.outbound.take();
  }

  private schedule(): void {
    if (this.scheduled || this.stopped) return;
    this.scheduled = true;
    if (waiting.push(this) === 1) setImmediate(flushWaiting);
  }

  private unsentBytes(): number {
    return this.outbound.bytes + this.socket.writableLength;
  }

  private isFull(): boolean {
    return this.unsentBytes() >= CONNECTION_UNSENT_BYTES_MAX;
  }

  private enqueue(stream: ServerStream): void {
    if (stream.queued) return;
    stream.queued = true;
    this.ready.push(stream);
  }

  /** Those that have more to send go to the back of the line while this runs. */
  private sendInTurn(): void {
    const { ready } = this;
    let next = 0;
    while (next < ready.length && !this.isFull()) {
      const stream = ready[next++]!;
      stream.queued = false;
      this.sendSome(stream);
    }
    ready.splice(0, next);
    for (const stream of ready) stream.ownUnsent();
  }

  /** One frame of a stream, two at its beginning or end. */
  private sendSome(stream: ServerStream): void {
    if (stream.headFrames) {
      this.outbound.append(stream.headFrames);
      stream.headFrames = undefined;
      if (stream.endsWithHead) {
        this.finish(stream);
        return;
      }
    }
    if (stream.unsentBytes > 0 && !this.sendData(stream)) return;
    if (stream.unsentBytes > 0) this.enqueue(stream);
    else if (stream.ended) this.sendEnd(stream);
  }

  /** False: nothing more of this stream for now, because it has to wait or because it is over. */
  private sendData(stream: ServerStream): boolean {
    const bytes = Math.min(stream.unsentBytes, FRAME_PAYLOAD_BYTES_MAX, stream.sendWindow, this.window);
    if (bytes <= 0) {
      stream.ownUnsent();
      if (stream.sendWindow > 0) this.starved.add(stream);
      return false;
    }
    const whole = bytes === stream.unsentBytes;
    const ends = whole && stream.ended && !stream.trailerFrames;
    this.dataFrame(stream, bytes, ends);
    stream.sendWindow -= bytes;
    this.window -= bytes;
    if (whole || bytes >= DRIBBLE_BYTES) this.budget.earn(DATA_FRAME_EARNS + bytes / BYTES_PER_TOKEN);
    if (ends) {
      this.finish(stream);
      return false;
    }
    if (stream.heldBack && !stream.isFull) {
      stream.heldBack = false;
      this.relieved.push(stream);
    }
    return true;
  }

  private sendEnd(stream: ServerStream): void {
    if (stream.trailerFrames) this.outbound.append(stream.trailerFrames);
    else this.dataFrame(stream, 0, true);
    this.finish(stream);
  }

  private dataFrame(stream: ServerStream, length: number, ends: boolean): void {
    const { outbound } = this;
    outbound.room(FRAME_HEADER_BYTES + length);
    const flags = ends ? Flag.endStream : 0;
    const { buffer } = outbound;
    const at = writeFrameHeader(buffer, outbound.offset, { length, type: FrameType.data, flags, streamId: stream.id });
    const piece = length > COPIED_BYTES_MAX ? stream.takePiece(length) : undefined;
    if (piece) {
      outbound.advance(at);
      outbound.refer(piece);
    } else outbound.advance(stream.copyInto(buffer, at, length));
  }

  private finish(stream: ServerStream): void {
    this.finished.push(stream);
    this.budget.earn(ANSWER_EARNS);
  }

  private settleFinished(): void {
    const { finished } = this;
    if (finished.length === 0) return;
    this.finished = [];
    for (const stream of finished) if (stream.open) this.events.answered(stream);
  }

  private tellRelieved(): void {
    const { relieved } = this;
    if (relieved.length === 0) return;
    this.relieved = [];
    for (const stream of relieved) if (stream.open && !stream.ended) stream.receiver?.drained();
  }

  private write(): void {
    const { socket } = this;
    const pieces = this.outbound.take();
    if (pieces.length === 0 || this.stopped || socket.destroyed) return;
    const behindOthers = socket.writableLength > 0;
    if (pieces.length > 1) socket.cork();
    for (const piece of pieces) {
      this.writtenBytes += piece.byteLength;
      socket.write(behindOthers && piece.byteLength < LEFT_IN_SLAB_BYTES_MIN ? new Uint8Array(piece) : piece);
    }
    if (pieces.length > 1) socket.uncork();
  }
}

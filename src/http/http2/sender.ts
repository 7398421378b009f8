import type { Duplex } from 'node:stream';
import { ANSWER_EARNS, BYTES_PER_TOKEN, DATA_FRAME_EARNS, DRIBBLE_BYTES, type FloodBudget } from './flood-budget.js';
import { CONNECTION_UNSENT_BYTES_MAX, CONTROL_UNSENT_BYTES_MAX } from './http2-limits.js';
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
import { WriteBuffer } from './write-buffer.js';

export interface SenderEvents {
  /** Called before the write with the stream's last frame; frames added now join that write. */
  answered(stream: ServerStream): void;
  /** Called when every frame that may be sent now was written to the socket. */
  flushed(): void;
  failed(error: unknown): void;
}

/** Longer payloads go to the socket without a copy. Measured with TLS, which joins buffers. */
const COPIED_BYTES_MAX = 4 * 1024;
/**
 * Smaller pieces are copied out of their slab when the socket has unsent bytes: otherwise a client
 * that does not read would keep the whole slab alive, with the bytes of other connections.
 */
const LEFT_IN_SLAB_BYTES_MIN = 16 * 1024;

/** Connections with frames to send at the end of this turn; one setImmediate serves all. */
let waiting: Sender[] = [];

function flushWaiting(): void {
  const senders = waiting;
  waiting = [];
  for (const sender of senders) sender.flush();
}

/**
 * Writes responses to a connection: one write for all frames of one turn of the event loop, streams
 * round-robin frame by frame, within the client's flow-control windows, and at most
 * CONNECTION_UNSENT_BYTES_MAX ahead of the kernel.
 */
export class Sender implements StreamSender {
  /** The next header block must start with a table size update to 0 (RFC 7541, 4.2). */
  tableUnused = false;
  private readonly socket: Duplex;
  private readonly budget: FloodBudget;
  private readonly events: SenderEvents;
  private readonly outbound = new WriteBuffer();
  private window = DEFAULT_WINDOW_BYTES;
  /** Streams with bytes to send, in sending order, each once. */
  private ready: ServerStream[] = [];
  /** Streams that wait only for the connection's flow-control window. */
  private readonly starved = new Set<ServerStream>();
  private finished: ServerStream[] = [];
  private relieved: ServerStream[] = [];
  /**
   * Progress of the socket for `isStalled`: bytes written to it, bytes that left its buffer, and
   * when the latter last grew.
   */
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
      // Always true for a deferred head: the client may reduce its table while the head waits.
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

  askForBody({ id: streamId }: ServerStream): void {
    const { tableUnused } = this;
    writeHead(this.control(), { streamId, status: 100, fields: [], endStream: false, tableUnused });
    this.tableUnused = false;
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

  /** Returns the buffer for control frames. Fails a connection whose client does not read them. */
  control(): WriteBuffer {
    if (this.unsentBytes() > CONNECTION_UNSENT_BYTES_MAX + CONTROL_UNSENT_BYTES_MAX && !this.stopped) {
      // An event, not an exception: callers include readers of a body and handlers that reset a
      // response.
      this.events.failed(
        new ConnectionError(ErrorCode.enhanceYourCalm, 'client does not read: too many unsent control frames'),
      );
    }
    this.schedule();
    return this.outbound;
  }

  /** Returns the write buffer for the final GOAWAY, without the bound of `control`. */
  lastWord(): WriteBuffer {
    return this.outbound;
  }

  enlargeWindow(increment: number): void {
    this.window += increment;
    if (this.window > WINDOW_BYTES_MAX)
      throw new ConnectionError(ErrorCode.flowControlError, 'flow-control window of the connection exceeds 2^31-1');
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

  /** Returns true if the socket's write buffer has made no progress for `progressMs`. */
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

  /** Writes the pending frames and half-closes the socket; later frames are discarded. */
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

  /** Round-robin: a stream with more to send is appended to `ready` while this loop runs. */
  private sendInTurn(): void {
    const { ready } = this;
    let next = 0;
    while (next < ready.length && !this.isFull()) {
      const stream = ready[next++]!;
      stream.queued = false;
      this.sendSome(stream);
    }
    ready.splice(0, next);
    for (const stream of ready) stream.copyUnsent();
  }

  /** Sends the deferred head of a stream, one DATA frame, and the end if it is due. */
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

  /** Returns false if the stream must wait for a flow-control window, or has ended. */
  private sendData(stream: ServerStream): boolean {
    const bytes = Math.min(stream.unsentBytes, FRAME_PAYLOAD_BYTES_MAX, stream.sendWindow, this.window);
    if (bytes <= 0) {
      stream.copyUnsent();
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

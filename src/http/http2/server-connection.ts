import type { Duplex } from 'node:stream';
import { ConnectionDeadlines } from './connection-deadlines.js';
import { FloodBudget, IDLE_FRAME_COST } from './flood-budget.js';
import { FrameReader, type FrameReceiver } from './frame-reader.js';
import { HeaderBlocks } from './header-block.js';
import {
  CONNECTION_WINDOW_BYTES,
  type ConnectionClock,
  DRAIN_NOTICE_MS,
  HEADER_TABLE_BYTES,
  type LargeHeads,
  LINGER_MS,
  type ServerConnectionLimits,
} from './http2-limits.js';
import {
  ConnectionError,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  FrameType,
  PREFACE,
  readUint31,
  STREAM_ID_MAX,
} from './protocol.js';
import { Sender } from './sender.js';
import type { ServerStream } from './server-stream.js';
import { localSettings, readClientSettings } from './settings.js';
import { type HeadRefusal, StreamSet } from './stream-set.js';

export interface ServerConnectionEvents {
  /** Called once for each valid request. `stream.receiver` must be set before it returns. */
  request(stream: ServerStream): void;
  /** Called for each request that is refused for its head; see HeadRefusal. */
  headRefused?(by: HeadRefusal): void;
  /** Called once, when the socket is closed. */
  closed(): void;
  /** Called when the connection fails, and when `request` throws (only the stream is reset). */
  failed(error: Error): void;
}

export interface ServerConnectionParts {
  readonly socket: Duplex;
  readonly limits: ServerConnectionLimits;
  readonly clock: ConnectionClock;
  readonly events: ServerConnectionEvents;
  readonly largeHeads?: LargeHeads | undefined;
}

/** Payload of the PING whose acknowledgement proves that the client has read the first GOAWAY. */
const DRAIN_PING = Buffer.from('draining', 'latin1');

/**
 * Server side of one HTTP/2 connection (RFC 9113). Protocol errors are answered with GOAWAY and
 * reported by `events.failed`; they are not thrown.
 *
 * This folder is one unit. ServerConnection dispatches frames, StreamSet applies them to streams,
 * Sender schedules and writes responses, ServerStream holds the state of one request; these four
 * know each other, and they read and write fields of ServerStream (windows, queue flags) directly.
 * This is deliberate: it is the hot path, every frame of every request passes here (ADR 0006), and
 * events or copies between separate units would add calls and objects per frame. Callers outside
 * the folder use ServerConnection and the handler's part of ServerStream only.
 */
export class ServerConnection implements FrameReceiver {
  readonly #socket: Duplex;
  readonly #clock: ConnectionClock;
  readonly #events: ServerConnectionEvents;
  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlocks;
  readonly #budget: FloodBudget;
  readonly #sender: Sender;
  readonly #streams: StreamSet;
  readonly #deadlines: ConnectionDeadlines;
  #prefaceBytes = 0;
  #settingsSeen = false;
  #draining = false;
  /** The final GOAWAY was sent: open streams are served, new ones are ignored. */
  #leaving = false;
  #ended = false;
  #cancelWait: (() => void) | undefined;

  constructor({ socket, limits, clock, events, largeHeads }: ServerConnectionParts) {
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    this.#reader = new FrameReader(this);
    this.#blocks = new HeaderBlocks(limits, largeHeads, (error) => this.#fail(error));
    this.#budget = new FloodBudget(clock, limits.streamsMax);
    this.#sender = new Sender(socket, this.#budget, {
      answered: (stream) => this.#streams.answered(stream),
      flushed: () => this.#endWhenEmpty(),
      failed: (error) => this.#fail(error),
    });
    this.#deadlines = new ConnectionDeadlines(clock, limits, {
      headersLate: () =>
        this.#fail(new ConnectionError(ErrorCode.enhanceYourCalm, 'timeout: header block was not complete in time')),
      idle: () => this.#idle(),
    });
    this.#streams = new StreamSet({
      limits,
      largeHeads,
      blocks: this.#blocks,
      budget: this.#budget,
      brokenBudget: new FloodBudget(clock, limits.streamsMax),
      sender: this.#sender,
      request: (stream) => this.#request(stream),
      headRefused: (by) => events.headRefused?.(by),
      emptied: () => this.#emptied(),
      stalled: () => this.#stalled(),
    });
    this.#greet(limits);
    this.#listen();
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** Graceful shutdown: sends GOAWAY, serves the open streams, then closes. */
  drain(): void {
    if (this.#draining || this.#ended) return;
    this.#draining = true;
    // Set before the first frame: control() may fail the connection, whose linger timer must not be
    // replaced by this one.
    this.#wait(DRAIN_NOTICE_MS, () => this.#leave());
    // RFC 9113, 6.8: the first GOAWAY refuses no stream, since requests may be in flight.
    const out = this.#sender.control();
    out.goaway(STREAM_ID_MAX, ErrorCode.noError);
    out.ping(0, DRAIN_PING);
  }

  destroy(): void {
    this.#socket.destroy();
    this.#gone();
  }

  /** Closes the connection if its client has read no written byte for `progressMs`. */
  endIfStalled(nowMs: number, progressMs: number): void {
    if (!this.#sender.isStalled(nowMs, progressMs)) return;
    this.#events.failed(new ConnectionError(ErrorCode.enhanceYourCalm, 'client does not read: write timeout'));
    this.destroy();
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (!this.#settingsSeen && (type !== FrameType.settings || (flags & Flag.ack) !== 0)) {
      throw new ConnectionError(ErrorCode.protocolError, 'the first frame is not SETTINGS');
    }
    const blockFor = this.#blocks.openFor;
    if (blockFor !== 0 && (type !== FrameType.continuation || id !== blockFor)) {
      throw new ConnectionError(ErrorCode.protocolError, 'unexpected frame inside a header block');
    }
    switch (type) {
      case FrameType.headers:
        this.#streams.headers(flags, id, bytes, start, end);
        break;
      case FrameType.data:
        this.#streams.data(flags, id, bytes, start, end);
        break;
      case FrameType.windowUpdate:
        this.#windowUpdate(id, bytes, start, end);
        break;
      case FrameType.continuation:
        this.#streams.continuation(flags, bytes, start, end);
        break;
      case FrameType.rstStream:
        this.#streams.rstStream(id, end - start);
        break;
      case FrameType.settings:
        this.#settings(flags, id, bytes, start, end);
        break;
      case FrameType.ping:
        this.#ping(flags, id, bytes.subarray(start, end));
        break;
      case FrameType.priority:
        this.#streams.priority(id, end - start);
        break;
      case FrameType.goaway:
        this.#goaway(id, end - start);
        break;
      case FrameType.pushPromise:
        throw new ConnectionError(ErrorCode.protocolError, 'PUSH_PROMISE from a client');
      default:
        // RFC 9113, 5.5: unknown frame types are ignored.
        this.#budget.spend(IDLE_FRAME_COST);
    }
  }

  #greet(limits: ServerConnectionLimits): void {
    const out = this.#sender.control();
    out.settings(localSettings(limits));
    out.windowUpdate(0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('drain', () => this.#sender.flush());
    socket.on('error', (error) => {
      if (!this.#ended) this.#events.failed(error);
      this.destroy();
    });
    // The socket ends its own side when the client half-closes: no response could be sent.
    socket.on('end', () => this.destroy());
    socket.once('close', () => {
      this.#gone();
      this.#events.closed();
    });
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      const from = this.#prefaceBytes < PREFACE.length ? this.#readPreface(chunk) : 0;
      if (from < chunk.length) this.#reader.push(chunk, from);
      this.#deadlines.watchHeaders(this.#blocks.openFor !== 0 || this.#reader.insideHeaders, this.#blocks.completed);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Returns the offset of the first frame in `chunk`. */
  #readPreface(chunk: Buffer): number {
    const bytes = Math.min(PREFACE.length - this.#prefaceBytes, chunk.length);
    if (PREFACE.compare(chunk, 0, bytes, this.#prefaceBytes, this.#prefaceBytes + bytes) !== 0) {
      throw new ConnectionError(ErrorCode.protocolError, 'invalid HTTP/2 connection preface');
    }
    this.#prefaceBytes += bytes;
    return bytes;
  }

  #request(stream: ServerStream): void {
    this.#deadlines.busy();
    try {
      this.#events.request(stream);
    } catch (error) {
      this.#events.failed(error as Error);
      stream.reset(ErrorCode.internalError);
    }
  }

  #windowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    this.#budget.spend(IDLE_FRAME_COST);
    if (end - start !== 4) throw new ConnectionError(ErrorCode.frameSizeError, 'WINDOW_UPDATE has an invalid length');
    if (id !== 0) {
      this.#streams.windowUpdate(id, bytes, start);
      return;
    }
    const increment = readUint31(bytes, start);
    if (increment === 0) throw new ConnectionError(ErrorCode.protocolError, 'WINDOW_UPDATE with an increment of 0');
    this.#sender.enlargeWindow(increment);
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionError(ErrorCode.protocolError, 'SETTINGS on a stream other than 0');
    this.#budget.spend(IDLE_FRAME_COST);
    if ((flags & Flag.ack) !== 0) {
      if (start !== end) throw new ConnectionError(ErrorCode.frameSizeError, 'SETTINGS acknowledgement with a payload');
      return;
    }
    const settings = readClientSettings(bytes, start, end);
    this.#settingsSeen = true;
    if ((settings.headerTableBytes ?? HEADER_TABLE_BYTES) < HEADER_TABLE_BYTES) this.#sender.tableUnused = true;
    this.#sender.control().settingsAck();
    if (settings.initialWindowBytes !== undefined) this.#streams.changeInitialWindow(settings.initialWindowBytes);
  }

  #ping(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(ErrorCode.protocolError, 'PING on a stream other than 0');
    if (payload.length !== 8) throw new ConnectionError(ErrorCode.frameSizeError, 'PING has an invalid length');
    this.#budget.spend(IDLE_FRAME_COST);
    if ((flags & Flag.ack) === 0) this.#sender.control().ping(Flag.ack, payload);
    else if (this.#draining && payload.equals(DRAIN_PING)) this.#leave();
  }

  /** GOAWAY from the client: it opens no more streams, the open ones are served. */
  #goaway(id: number, length: number): void {
    if (id !== 0) throw new ConnectionError(ErrorCode.protocolError, 'GOAWAY on a stream other than 0');
    if (length < 8) throw new ConnectionError(ErrorCode.frameSizeError, 'GOAWAY is too short');
    this.#budget.spend(IDLE_FRAME_COST);
    this.#draining = true;
    this.#leave();
  }

  #emptied(): void {
    this.#deadlines.idleFromNow();
    // Schedules a flush, whose `flushed` event ends the connection; there may be no other frame to
    // send.
    if (this.#leaving) this.#sender.control();
  }

  /** Drains the connection when its last stream was reset because the client made no progress. */
  #stalled(): void {
    if (this.#streams.size === 0) this.drain();
  }

  #idle(): void {
    if (this.#prefaceBytes < PREFACE.length) this.destroy();
    else this.drain();
  }

  #leave(): void {
    if (this.#leaving || this.#ended) return;
    this.#leaving = true;
    this.#stopWaiting();
    this.#streams.refuseNew();
    this.#sender.control().goaway(this.#streams.lastId, ErrorCode.noError);
  }

  #endWhenEmpty(): void {
    if (this.#leaving && this.#streams.size === 0) this.#end();
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    const code = error instanceof ConnectionError ? error.code : ErrorCode.internalError;
    this.#sender.lastWord().goaway(this.#streams.lastId, code);
    this.#end();
    this.#events.failed(error as Error);
  }

  /**
   * Stops reading, half-closes, and lingers until the client closes: an immediate close could reset
   * the connection before the client has read the GOAWAY.
   */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadlines.stop();
    this.#reader.stop();
    this.#blocks.stop();
    this.#sender.end();
    this.#streams.closeAll();
    this.#wait(LINGER_MS, () => this.#socket.destroy());
  }

  #gone(): void {
    this.#ended = true;
    this.#deadlines.stop();
    this.#reader.stop();
    this.#blocks.stop();
    this.#sender.stop();
    this.#stopWaiting();
    this.#streams.closeAll();
  }

  #wait(delayMs: number, then: () => void): void {
    this.#stopWaiting();
    this.#cancelWait = this.#clock.after(delayMs, then);
  }

  #stopWaiting(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }
}

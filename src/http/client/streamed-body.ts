import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { AttemptError } from '../attempt-error.js';
import { type Http1RequestHead, refusal } from './http1-request-head.js';

export interface StreamedBodyEvents {
  /** Called when the whole body was written to the socket. */
  bodySent(): void;
  bodyFailed(error: Error): void;
}

/**
 * Sends a request whose body is a stream, with back-pressure from the server. The head is sent with
 * the first bytes. With Content-Length exactly that many bytes are sent or the request fails;
 * without it the body is chunked.
 */
export class StreamedBody {
  readonly #socket: TLSSocket;
  readonly #body: Readable;
  readonly #head: Http1RequestHead;
  readonly #events: StreamedBodyEvents;
  #sentBytes = 0;
  #sentBytesBefore = 0;
  #drained = false;
  #over = false;

  constructor(socket: TLSSocket, body: Readable, head: Http1RequestHead, events: StreamedBodyEvents) {
    this.#socket = socket;
    this.#body = body;
    this.#head = head;
    this.#events = events;
    socket.on('drain', this.#onDrain);
    body.on('data', this.#onData);
    body.once('end', this.#onEnd);
    body.once('close', this.#onClose);
    // Both events may have been emitted before the listeners were added.
    if (body.readableEnded) setImmediate(this.#onEnd);
    else if (body.closed) setImmediate(this.#onClose);
    else body.resume();
  }

  /** Returns true if bytes were sent or the socket drained since the last call. */
  movedOn(): boolean {
    const moved = this.#drained || this.#sentBytes > this.#sentBytesBefore;
    this.#drained = false;
    this.#sentBytesBefore = this.#sentBytes;
    return !this.#over && moved;
  }

  /** True while the server could take more and the client has not sent it. */
  get awaitsSender(): boolean {
    return !this.#over && !this.#socket.writableNeedDrain;
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#socket.off('drain', this.#onDrain);
    this.#body.off('data', this.#onData);
    this.#body.off('end', this.#onEnd);
    this.#body.off('close', this.#onClose);
  }

  #onData = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    if (chunk.byteLength === 0) return;
    const { announcedBytes, text } = this.#head;
    const isFirst = this.#sentBytes === 0;
    this.#sentBytes += chunk.byteLength;
    if (announcedBytes >= 0 && this.#sentBytes > announcedBytes) {
      this.#fail(refusal('the body is longer than content-length'));
      return;
    }
    const socket = this.#socket;
    let before = '';
    if (isFirst) {
      before = announcedBytes >= 0 ? `${text}content-length: ${announcedBytes}\r\n\r\n` : `${text}${CHUNKED}`;
    }
    if (announcedBytes < 0) before += `${isFirst ? '' : '\r\n'}${chunk.byteLength.toString(16)}\r\n`;
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    const more = socket.write(chunk);
    socket.uncork();
    if (!more) this.#body.pause();
  };

  #onDrain = (): void => {
    this.#drained = true;
    this.#body.resume();
  };

  #onEnd = (): void => {
    if (this.#over) return;
    const { announcedBytes, text, saysEmpty } = this.#head;
    if (announcedBytes >= 0 && this.#sentBytes !== announcedBytes) {
      this.#fail(refusal('the body is shorter than content-length'));
      return;
    }
    this.stop();
    if (this.#sentBytes === 0)
      this.#socket.write(saysEmpty ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`, 'latin1');
    else if (announcedBytes < 0) this.#socket.write('\r\n0\r\n\r\n', 'latin1');
    this.#events.bodySent();
  };

  #onClose = (): void => {
    if (!this.#over)
      this.#fail(new AttemptError('maybe', 'aborted', 'unexpected EOF in the request body: client disconnected'));
  };

  #fail(error: Error): void {
    this.stop();
    this.#events.bodyFailed(error);
  }
}

const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';

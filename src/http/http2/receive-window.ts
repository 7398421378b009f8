import { CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES } from './http2-limits.js';
import { ConnectionError, ErrorCode } from './protocol.js';
import type { Sender } from './sender.js';
import type { ServerStream } from './server-stream.js';

/** WINDOW_UPDATE is sent when this many bytes were consumed, not for every frame. */
const CONNECTION_STEP_BYTES = CONNECTION_WINDOW_BYTES / 4;
const STREAM_STEP_BYTES = STREAM_WINDOW_BYTES / 4;

/** Receive-side flow control: the window of the connection, and of each ServerStream. */
export class ReceiveWindow {
  readonly #sender: Sender;
  #window = CONNECTION_WINDOW_BYTES;
  #unreturnedBytes = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  received(bytes: number): void {
    this.#window -= bytes;
    if (this.#window < 0)
      throw new ConnectionError(ErrorCode.flowControlError, 'DATA exceeds the flow-control window of the connection');
  }

  /**
   * Returns consumed or discarded bytes to the windows; `stream` is undefined for a closed stream.
   */
  giveBack(stream: ServerStream | undefined, bytes: number): void {
    this.#unreturnedBytes += bytes;
    // Sent early when the window is nearly used up: the rest of it may be held by streams without a
    // reader.
    if (this.#unreturnedBytes >= CONNECTION_STEP_BYTES || this.#unreturnedBytes > this.#window) {
      this.#sender.control().windowUpdate(0, this.#unreturnedBytes);
      this.#window += this.#unreturnedBytes;
      this.#unreturnedBytes = 0;
    }
    if (!stream?.open || stream.remoteEnded) return;
    stream.unreturnedBytes += bytes;
    if (stream.unreturnedBytes < STREAM_STEP_BYTES) return;
    this.#sender.control().windowUpdate(stream.id, stream.unreturnedBytes);
    stream.receiveWindow += stream.unreturnedBytes;
    stream.unreturnedBytes = 0;
  }
}

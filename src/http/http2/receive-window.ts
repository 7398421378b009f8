import { CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES } from '../../http2/limits.js';
import { ConnectionError, ErrorCode } from './protocol.js';
import type { Sender } from './sender.js';
import type { ServerStream } from './server-stream.js';

/** Windows are given back in such parts, not for every frame. */
const CONNECTION_STEP_BYTES = CONNECTION_WINDOW_BYTES / 4;
const STREAM_STEP_BYTES = STREAM_WINDOW_BYTES / 4;

/** What clients may send of their requests' bodies: all streams together here, each in its own counters. */
export class ReceiveWindow {
  readonly #sender: Sender;
  #window = CONNECTION_WINDOW_BYTES;
  #unreturnedBytes = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  received(bytes: number): void {
    this.#window -= bytes;
    if (this.#window < 0) throw new ConnectionError(ErrorCode.flowControlError, 'more than the connection’s window');
  }

  /** Bytes that are no longer held here. Without a stream: of one that is closed. */
  giveBack(stream: ServerStream | undefined, bytes: number): void {
    this.#unreturnedBytes += bytes;
    // Before a part is full where little else is left: the rest may be held by streams that nobody reads.
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

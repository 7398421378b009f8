import { GRPC, GrpcError } from './grpc-error.js';

const PREFIX_BYTES = 5;

/** Frames a message for gRPC: a byte for no compression, its length, its bytes. */
export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}

/** Splits a stream of bytes into messages. Refuses a message that is too large by its length prefix. */
export class FrameParser {
  readonly #messageBytesMax: number;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #wantedBytes = PREFIX_BYTES;
  #inMessage = false;

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** Returns the messages that this chunk completes. Throws GrpcError. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    const messages: Buffer[] = [];
    while (this.#heldBytes >= this.#wantedBytes) {
      const part = this.#take(this.#wantedBytes);
      if (this.#inMessage) {
        messages.push(part);
        this.#wantedBytes = PREFIX_BYTES;
      } else this.#wantedBytes = this.#messageLength(part);
      this.#inMessage = !this.#inMessage;
    }
    return messages;
  }

  #messageLength(prefix: Buffer): number {
    const length = prefix.readUInt32BE(1);
    if (prefix[0] !== 0) throw new GrpcError(GRPC.unknown, 'the server compressed an answer unasked', true);
    if (length > this.#messageBytesMax) {
      const text = `the answer has ${length} bytes, which is larger than max ${this.#messageBytesMax}`;
      throw new GrpcError(GRPC.resourceExhausted, text, true);
    }
    return length;
  }

  #take(bytes: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#heldBytes -= bytes;
    this.#chunks = this.#heldBytes > 0 ? [all.subarray(bytes)] : [];
    return all.subarray(0, bytes);
  }
}

import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';

const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODE = { binary: 2, close: 8, ping: 9, pong: 10 } as const;
const FRAME_BYTES_MAX = 1 << 20;

export function websocketAccept(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64');
}

/** The server's side of a WebSocket (RFC 6455) whose messages are single binary frames. */
export class WebSocketConnection {
  private pending = Buffer.alloc(0);

  constructor(
    private readonly socket: Duplex,
    private readonly onMessage: (message: Buffer) => void,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.pending = Buffer.concat([this.pending, chunk]);
      for (let frame = this.take(); frame !== undefined; frame = this.take()) this.frame(frame);
    });
  }

  send(message: Buffer, opcode: number = OPCODE.binary): void {
    const length =
      message.length < 126
        ? Buffer.from([message.length])
        : Buffer.from([126, message.length >> 8, message.length & 0xff]);
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, message]));
  }

  /** Says goodbye with "normal closure". */
  close(): void {
    this.send(Buffer.from([0x03, 0xe8]), OPCODE.close);
    this.socket.end();
  }

  private frame({ opcode, payload }: { opcode: number; payload: Buffer }): void {
    if (opcode === OPCODE.ping) this.send(payload, OPCODE.pong);
    else if (opcode === OPCODE.close) this.socket.end();
    else this.onMessage(payload);
  }

  /** The next whole frame, unmasked, if it has arrived. */
  private take(): { opcode: number; payload: Buffer } | undefined {
    const { pending } = this;
    if (pending.length < 2) return undefined;
    let length = (pending[1] ?? 0) & 0x7f;
    let at = 2;
    if (length === 126) {
      if (pending.length < 4) return undefined;
      length = pending.readUInt16BE(2);
      at = 4;
    } else if (length === 127) {
      if (pending.length < 10) return undefined;
      length = Number(pending.readBigUInt64BE(2));
      at = 10;
    }
    if (length > FRAME_BYTES_MAX) {
      this.socket.destroy(new Error(`a frame of ${length} bytes`));
      return undefined;
    }
    if (pending.length < at + 4 + length) return undefined;
    const mask = pending.subarray(at, at + 4);
    const payload = Buffer.from(pending.subarray(at + 4, at + 4 + length));
    for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
    this.pending = pending.subarray(at + 4 + length);
    return { opcode: (pending[0] ?? 0) & 0x0f, payload };
  }
}

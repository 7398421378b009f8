import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { constants, createDeflate, createInflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.js';

/** One stream that the client has opened. */
export interface SpdyStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SpdyListener {
  stream(stream: SpdyStream): void;
  data(stream: SpdyStream, bytes: Buffer): void;
  /** The client sends no more on this stream. */
  finished(stream: SpdyStream): void;
}

const CONTROL_HEAD = 0x8003;
const TYPE = { synStream: 1, synReply: 2, reset: 3, ping: 6 } as const;
const FLAG_FIN = 0x01;
const HEADER_BYTES = 8;
const FRAME_BYTES_MAX = 1 << 20;

/** The server's side of SPDY/3.1, as much as exec needs: streams, data, half-close, ping. */
export class SpdyConnection {
  private readonly inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  private readonly deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  private readonly streams = new Map<number, SpdyStream>();
  private pending = Buffer.alloc(0);
  /** Header blocks share one zlib context, so frames are read strictly one after another. */
  private reading = Promise.resolve();

  constructor(
    private readonly socket: Duplex,
    private readonly listener: SpdyListener,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.reading = this.reading.then(() => this.receive(chunk)).catch((error: Error) => void socket.destroy(error));
    });
  }

  send(stream: SpdyStream, bytes: Buffer, last = false): void {
    const head = Buffer.alloc(HEADER_BYTES);
    head.writeUInt32BE(stream.id, 0);
    head.writeUInt32BE(bytes.length, 4);
    head[4] = last ? FLAG_FIN : 0;
    this.socket.write(Buffer.concat([head, bytes]));
  }

  private async receive(chunk: Buffer): Promise<void> {
    this.pending = Buffer.concat([this.pending, chunk]);
    while (this.pending.length >= HEADER_BYTES) {
      const bytes = this.pending.readUIntBE(5, 3);
      if (bytes > FRAME_BYTES_MAX) throw new Error(`a frame of ${bytes} bytes`);
      if (this.pending.length < HEADER_BYTES + bytes) return;
      const frame = this.pending.subarray(0, HEADER_BYTES + bytes);
      this.pending = this.pending.subarray(HEADER_BYTES + bytes);
      await this.frame(frame);
    }
  }

  private async frame(frame: Buffer): Promise<void> {
    const flags = frame[4] ?? 0;
    const body = frame.subarray(HEADER_BYTES);
    if (frame.readUInt16BE(0) !== CONTROL_HEAD) {
      this.data(frame.readUInt32BE(0), body, flags);
      return;
    }
    const type = frame.readUInt16BE(2);
    if (type === TYPE.synStream) await this.opened(body, flags);
    else if (type === TYPE.ping) this.socket.write(frame);
    else if (type === TYPE.reset) this.closed(body.readUInt32BE(0));
  }

  private data(id: number, bytes: Buffer, flags: number): void {
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (bytes.length > 0) this.listener.data(stream, bytes);
    if (flags & FLAG_FIN) this.closed(id);
  }

  private closed(id: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined && this.streams.delete(id)) this.listener.finished(stream);
  }

  private async opened(body: Buffer, flags: number): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fffffff;
    const headers = parseHeaders(await through(this.inflate, body.subarray(10)));
    const stream = { id, headers };
    this.streams.set(id, stream);
    const block = await through(this.deflate, Buffer.alloc(4));
    const head = Buffer.alloc(HEADER_BYTES + 4);
    head.writeUInt16BE(CONTROL_HEAD, 0);
    head.writeUInt16BE(TYPE.synReply, 2);
    head.writeUInt32BE(4 + block.length, 4);
    head.writeUInt32BE(id, HEADER_BYTES);
    this.socket.write(Buffer.concat([head, block]));
    this.listener.stream(stream);
    if (flags & FLAG_FIN) this.closed(id);
  }
}

/** What zlib makes of this block, flushed but with its context kept for the next one. */
async function through(zlib: ReturnType<typeof createInflate | typeof createDeflate>, block: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const collect = (chunk: Buffer): void => void chunks.push(chunk);
  zlib.on('data', collect);
  zlib.write(block);
  await new Promise<void>((resolve) => zlib.flush(constants.Z_SYNC_FLUSH, () => resolve()));
  if (zlib.readableLength > 0) await once(zlib, 'data');
  zlib.off('data', collect);
  return Buffer.concat(chunks);
}

function parseHeaders(block: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 4;
  const text = (): string => {
    const length = block.readUInt32BE(at);
    const value = block.subarray(at + 4, at + 4 + length).toString('latin1');
    at += 4 + length;
    return value;
  };
  for (let left = block.readUInt32BE(0); left > 0; left--) headers[text().toLowerCase()] = text();
  return headers;
}

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { HeaderDecoder } from './hpack/header-decoder.js';
import { integer, text } from './hpack/hpack-encoder.fixture.js';
import type { ServerConnectionLimits } from './http2-limits.js';
import { Flag, FRAME_HEADER_BYTES, FrameType, PREFACE, readUint31, readUint32, writeUint32 } from './protocol.js';
import { ServerConnection } from './server-connection.js';
import type { ServerStream } from './server-stream.js';

export const LIMITS: ServerConnectionLimits = {
  headerBytesMax: 16 * 1024,
  headersCountMax: 100,
  streamsMax: 10,
  idleMs: 60_000,
  headerTimeoutMs: 5_000,
};

export interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly streamId?: number;
  readonly payload?: Buffer;
}

export function frameBytes({ type, flags = 0, streamId = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => {
    writeUint32(bytes, i * 4, value);
  });
  return bytes;
}

export function settingsPayload(...pairs: (readonly [number, number])[]): Buffer {
  return Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.of(id >> 8, id & 0xff), uint32(value)])));
}

/**
 * Returns a header block of literals without indexing; names and values are not checked or changed.
 */
export function block(...fields: string[]): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < fields.length; i += 2) parts.push(integer(0, 4, 0), text(fields[i]!), text(fields[i + 1]!));
  return Buffer.concat(parts);
}

export const GET = [':method', 'GET', ':scheme', 'https', ':path', '/', ':authority', 'server'] as const;
export const POST = [':method', 'POST', ':scheme', 'https', ':path', '/', ':authority', 'server'] as const;

/** HTTP/2 client that sends arbitrary frames and records every received frame. */
export class FrameClient {
  readonly frames: Required<Frame>[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #decoder = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e6, fieldsMax: 1000 });
  #unread: Buffer = Buffer.alloc(0);

  constructor(readonly socket: Socket) {
    // Nagle's algorithm would delay the second of two small writes.
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.isClosed = true;
        resolve();
      }),
    );
  }

  greet(...settings: (readonly [number, number])[]): this {
    this.socket.write(PREFACE);
    return this.send({ type: FrameType.settings, payload: settingsPayload(...settings) });
  }

  send(...frames: Frame[]): this {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames.map(frameBytes)));
    return this;
  }

  headers(streamId: number, fields: readonly string[], { endStream = true, endHeaders = true } = {}): this {
    const flags = (endStream ? Flag.endStream : 0) | (endHeaders ? Flag.endHeaders : 0);
    return this.send({ type: FrameType.headers, flags, streamId, payload: block(...fields) });
  }

  data(streamId: number, bytes: Buffer | string | number, { endStream = false } = {}): this {
    const payload = typeof bytes === 'number' ? Buffer.alloc(bytes, 'd') : Buffer.from(bytes);
    return this.send({ type: FrameType.data, flags: endStream ? Flag.endStream : 0, streamId, payload });
  }

  /** Returns the first matching frame, waiting for it if necessary. */
  async frame(type: number, streamId?: number): Promise<Required<Frame>> {
    const find = () =>
      this.frames.find((frame) => frame.type === type && (streamId === undefined || frame.streamId === streamId));
    await until(() => find() !== undefined || this.isClosed, `a frame of type ${type}`);
    const found = find();
    if (!found) throw new Error(`connection closed before a frame of type ${type}`);
    return found;
  }

  async goawayCode(): Promise<number> {
    await this.closed;
    const goaways = this.frames.filter(({ type }) => type === FrameType.goaway);
    return readUint32(goaways.at(-1)!.payload, 4);
  }

  async rstCode(streamId: number): Promise<number> {
    return readUint32((await this.frame(FrameType.rstStream, streamId)).payload, 0);
  }

  async status(streamId: number): Promise<string> {
    const { payload } = await this.frame(FrameType.headers, streamId);
    return this.#decoder.decode(payload).fields[1]!;
  }

  body(streamId: number): Buffer {
    const frames = this.frames.filter((frame) => frame.type === FrameType.data && frame.streamId === streamId);
    return Buffer.concat(frames.map(({ payload }) => payload));
  }

  /** Sends PING and waits for its acknowledgement: the server has then read every earlier frame. */
  async roundTrip(): Promise<void> {
    const payload = Buffer.from(`t${String(this.#pings++).padStart(7, '0')}`);
    this.send({ type: FrameType.ping, payload });
    await until(
      () =>
        this.isClosed || this.frames.some((frame) => frame.type === FrameType.ping && frame.payload.equals(payload)),
      'PING',
    );
    if (this.isClosed) throw new Error('connection closed by the server');
  }
  #pings = 0;

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (;;) {
      if (this.#unread.length < FRAME_HEADER_BYTES) return;
      const end = FRAME_HEADER_BYTES + this.#unread.readUIntBE(0, 3);
      if (this.#unread.length < end) return;
      this.frames.push({
        type: this.#unread[3]!,
        flags: this.#unread[4]!,
        streamId: readUint31(this.#unread, 5),
        payload: Buffer.from(this.#unread.subarray(FRAME_HEADER_BYTES, end)),
      });
      this.#unread = this.#unread.subarray(end);
    }
  }
}

export interface StartedConnection {
  readonly client: FrameClient;
  readonly connection: ServerConnection;
  readonly clock: ManualClock;
  readonly requests: ServerStream[];
  /** Stream ids in closing order. */
  readonly closedStreams: number[];
  readonly drained: number[];
  readonly failures: Error[];
  closings(): number;
  /** Resolves when the server has read every byte that the client wrote. */
  arrived(): Promise<void>;
}

const servers: Server[] = [];
const sockets: Socket[] = [];

/** Starts a ServerConnection on a real socket; `answer` is called for each request. */
export async function startConnection(
  answer: (stream: ServerStream) => void = () => {},
  limits: Partial<ServerConnectionLimits> = {},
): Promise<StartedConnection> {
  const clock = new ManualClock();
  const requests: ServerStream[] = [];
  const closedStreams: number[] = [];
  const drained: number[] = [];
  const failures: Error[] = [];
  let closings = 0;
  let accepted: Socket | undefined;
  let made: ((connection: ServerConnection) => void) | undefined;
  const connected = new Promise<ServerConnection>((resolve) => {
    made = resolve;
  });
  const server = createServer((socket) => {
    accepted = socket;
    sockets.push(socket);
    made!(
      new ServerConnection({
        socket,
        limits: { ...LIMITS, ...limits },
        clock,
        events: {
          request: (stream) => {
            stream.receiver = {
              drained: () => void drained.push(stream.id),
              closed: () => void closedStreams.push(stream.id),
            };
            requests.push(stream);
            answer(stream);
          },
          closed: () => void closings++,
          failed: (error) => void failures.push(error),
        },
      }),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  const client = new FrameClient(socket);
  const connection = await connected;
  const arrived = () => until(() => accepted!.bytesRead === socket.bytesWritten, 'the server to read every byte sent');
  const seen = { requests, closedStreams, drained, failures, closings: () => closings };
  return { client, connection, clock, ...seen, arrived };
}

export function stopConnections(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
}

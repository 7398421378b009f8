import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const HEADERS = 1;
const SETTINGS = 4;
const CONTINUATION = 9;
export const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;

/**
 * Header block that Node's HTTP/2 client sent, and a function that answers with an encoded block.
 */
export interface SeenRequest {
  readonly block: Buffer;
  answer(block: Buffer, flags: number): void;
}

export interface NodeHttp2Client {
  readonly session: ClientHttp2Session;
  close(): Promise<void>;
}

/**
 * Starts Node's HTTP/2 client on a real socket, with a minimal server that exposes its header
 * blocks.
 */
export async function nodeHttp2Client(onRequest: (request: SeenRequest) => void): Promise<NodeHttp2Client> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
    readFrames(socket, onRequest);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.on('error', () => {});
  return {
    session,
    async close() {
      session.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function readFrames(socket: Socket, onRequest: (request: SeenRequest) => void): void {
  let unread = Buffer.alloc(0);
  let skip = PREFACE_BYTES;
  let fragments: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    while (unread.length >= skip + FRAME_HEAD_BYTES) {
      const head = unread.subarray(skip);
      const length = head.readUIntBE(0, 3);
      if (head.length < FRAME_HEAD_BYTES + length) return;
      const [type, flags, streamId] = [head[3]!, head[4]!, head.readUInt32BE(5)];
      const payload = Buffer.from(head.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length));
      unread = head.subarray(FRAME_HEAD_BYTES + length);
      skip = 0;
      if (type === SETTINGS && (flags & 1) === 0) socket.write(frame(SETTINGS, 1, 0, Buffer.alloc(0)));
      if (type === HEADERS) fragments = [withoutPadding(payload, flags)];
      if (type === CONTINUATION) fragments.push(payload);
      if ((type === HEADERS || type === CONTINUATION) && (flags & END_HEADERS) !== 0) {
        const answer = (block: Buffer, more: number) =>
          socket.write(frame(HEADERS, END_HEADERS | more, streamId, block));
        onRequest({ block: Buffer.concat(fragments), answer });
      }
    }
  });
}

function withoutPadding(payload: Buffer, flags: number): Buffer {
  const padded = (flags & PADDED) !== 0;
  const start = (padded ? 1 : 0) + ((flags & PRIORITY) !== 0 ? 5 : 0);
  return payload.subarray(start, payload.length - (padded ? payload[0]! : 0));
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import {
  block,
  type Frame,
  frameBytes,
  GET,
  POST,
  settingsPayload,
  startConnection,
  stopConnections,
  uint32,
} from './frame-client.fixture.js';
import { HEADER_BLOCK_EXCESS_BYTES_MAX } from './http2-limits.js';
import { ErrorCode, Flag, FrameType, PREFACE, readUint32 } from './protocol.js';
import type { ServerStream } from './server-stream.js';

afterEach(stopConnections);

const OK = (stream: ServerStream) => stream.respond(200, ['Content-Type', 'text/plain'], Buffer.from('hello'));
const END_HEADERS = Flag.endHeaders;
const REQUEST: Frame = {
  type: FrameType.headers,
  flags: Flag.endHeaders | Flag.endStream,
  streamId: 1,
  payload: block(...GET),
};

describe('ServerConnection preface', () => {
  it('sends SETTINGS with its limits, acknowledges those of the client, enlarges the connection window', async () => {
    const { client } = await startConnection(OK, { streamsMax: 7, headerBytesMax: 5_000 });
    client.greet([0x4, 1_000]);
    const { payload } = await client.frame(FrameType.settings);
    expect(payload).toEqual(settingsPayload([1, 4_096], [3, 7], [4, 256 * 1024], [6, 5_000]));
    const update = await client.frame(FrameType.windowUpdate, 0);
    expect(readUint32(update.payload, 0)).toBe(4 * 1024 * 1024 - 65_535);
    await until(() => client.frames.some(({ type, flags }) => type === FrameType.settings && flags === Flag.ack));
  });

  it('reads a preface and frames that arrive byte by byte', async () => {
    const { client } = await startConnection(OK);
    const bytes = Buffer.concat([PREFACE, frameBytes({ type: FrameType.settings }), frameBytes(REQUEST)]);
    for (const byte of bytes) {
      client.socket.write(Buffer.of(byte));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(await client.status(1)).toBe('200');
  });

  it.each([
    ['an HTTP/1.1 request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a preface with a wrong last byte', Buffer.concat([PREFACE.subarray(0, -1), Buffer.of(0)])],
    ['PING before SETTINGS', Buffer.concat([PREFACE, frameBytes({ type: FrameType.ping, payload: uint32(0, 0) })])],
    [
      'a SETTINGS acknowledgement before SETTINGS',
      Buffer.concat([PREFACE, frameBytes({ type: FrameType.settings, flags: Flag.ack })]),
    ],
  ])('answers %s with GOAWAY PROTOCOL_ERROR', async (_, bytes) => {
    const { client } = await startConnection(OK);
    client.socket.write(bytes);
    expect(await client.goawayCode()).toBe(ErrorCode.protocolError);
  });
});

describe('ServerConnection connection errors', () => {
  const frame = (type: number, streamId: number, payload: Buffer, flags = 0): Frame => ({
    type,
    streamId,
    payload,
    flags,
  });
  const open: Frame = { ...REQUEST, flags: END_HEADERS };

  it.each<[string, number, Frame[]]>([
    ['a frame of more than 16384 bytes', ErrorCode.frameSizeError, [frame(FrameType.data, 1, Buffer.alloc(16_385))]],
    ['DATA on stream 0', ErrorCode.protocolError, [frame(FrameType.data, 0, Buffer.alloc(1))]],
    ['DATA on an idle stream', ErrorCode.protocolError, [frame(FrameType.data, 1, Buffer.alloc(1))]],
    [
      'DATA with more padding than payload',
      ErrorCode.protocolError,
      [open, frame(FrameType.data, 1, Buffer.of(1), Flag.padded)],
    ],
    ['HEADERS on stream 0', ErrorCode.protocolError, [{ ...REQUEST, streamId: 0 }]],
    ['HEADERS on an even stream id', ErrorCode.protocolError, [{ ...REQUEST, streamId: 2 }]],
    [
      'HEADERS with more padding than payload',
      ErrorCode.protocolError,
      [frame(FrameType.headers, 1, Buffer.of(9), Flag.padded | END_HEADERS)],
    ],
    [
      'HEADERS with truncated priority',
      ErrorCode.frameSizeError,
      [frame(FrameType.headers, 1, Buffer.alloc(4), Flag.priority | END_HEADERS)],
    ],
    [
      'an invalid HPACK block',
      ErrorCode.compressionError,
      [frame(FrameType.headers, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff), END_HEADERS)],
    ],
    [
      'CONTINUATION without HEADERS',
      ErrorCode.protocolError,
      [frame(FrameType.continuation, 1, Buffer.alloc(0), END_HEADERS)],
    ],
    [
      'PING inside a header block',
      ErrorCode.protocolError,
      [{ ...REQUEST, flags: 0 }, frame(FrameType.ping, 0, Buffer.alloc(8))],
    ],
    [
      'an unknown frame inside a header block',
      ErrorCode.protocolError,
      [{ ...REQUEST, flags: 0 }, frame(0x77, 0, Buffer.alloc(8))],
    ],
    [
      'CONTINUATION on another stream',
      ErrorCode.protocolError,
      [{ ...REQUEST, flags: 0 }, frame(FrameType.continuation, 3, Buffer.alloc(0), END_HEADERS)],
    ],
    ['PRIORITY on stream 0', ErrorCode.protocolError, [frame(FrameType.priority, 0, Buffer.alloc(5))]],
    ['RST_STREAM on stream 0', ErrorCode.protocolError, [frame(FrameType.rstStream, 0, uint32(0))]],
    ['RST_STREAM on an idle stream', ErrorCode.protocolError, [frame(FrameType.rstStream, 5, uint32(0))]],
    ['RST_STREAM of 3 bytes', ErrorCode.frameSizeError, [open, frame(FrameType.rstStream, 1, Buffer.alloc(3))]],
    ['SETTINGS on stream 1', ErrorCode.protocolError, [frame(FrameType.settings, 1, Buffer.alloc(0))]],
    ['SETTINGS of 5 bytes', ErrorCode.frameSizeError, [frame(FrameType.settings, 0, Buffer.alloc(5))]],
    [
      'a SETTINGS acknowledgement with a payload',
      ErrorCode.frameSizeError,
      [frame(FrameType.settings, 0, Buffer.alloc(6), Flag.ack)],
    ],
    ['ENABLE_PUSH of 2', ErrorCode.protocolError, [frame(FrameType.settings, 0, settingsPayload([2, 2]))]],
    [
      'INITIAL_WINDOW_SIZE of 2^31',
      ErrorCode.flowControlError,
      [frame(FrameType.settings, 0, settingsPayload([4, 2 ** 31]))],
    ],
    ['MAX_FRAME_SIZE of 16383', ErrorCode.protocolError, [frame(FrameType.settings, 0, settingsPayload([5, 16_383]))]],
    ['MAX_FRAME_SIZE of 2^24', ErrorCode.protocolError, [frame(FrameType.settings, 0, settingsPayload([5, 2 ** 24]))]],
    ['PUSH_PROMISE', ErrorCode.protocolError, [frame(FrameType.pushPromise, 1, Buffer.alloc(4))]],
    ['PING on stream 1', ErrorCode.protocolError, [frame(FrameType.ping, 1, Buffer.alloc(8))]],
    ['PING of 7 bytes', ErrorCode.frameSizeError, [frame(FrameType.ping, 0, Buffer.alloc(7))]],
    ['GOAWAY on stream 1', ErrorCode.protocolError, [frame(FrameType.goaway, 1, Buffer.alloc(8))]],
    ['GOAWAY of 7 bytes', ErrorCode.frameSizeError, [frame(FrameType.goaway, 0, Buffer.alloc(7))]],
    ['WINDOW_UPDATE of 3 bytes', ErrorCode.frameSizeError, [frame(FrameType.windowUpdate, 0, Buffer.alloc(3))]],
    ['WINDOW_UPDATE with an increment of 0', ErrorCode.protocolError, [frame(FrameType.windowUpdate, 0, uint32(0))]],
    ['WINDOW_UPDATE above 2^31-1', ErrorCode.flowControlError, [frame(FrameType.windowUpdate, 0, uint32(2 ** 31 - 1))]],
    ['WINDOW_UPDATE on an idle stream', ErrorCode.protocolError, [frame(FrameType.windowUpdate, 9, uint32(1))]],
    [
      'INITIAL_WINDOW_SIZE that raises an open stream’s window above 2^31-1',
      ErrorCode.flowControlError,
      [
        open,
        frame(FrameType.windowUpdate, 1, uint32(2 ** 31 - 1 - 65_535)),
        frame(FrameType.settings, 0, settingsPayload([4, 65_536])),
      ],
    ],
    [
      'HEADERS on a stream id below the last one',
      ErrorCode.streamClosed,
      [
        { ...open, streamId: 5 },
        { ...open, streamId: 3 },
      ],
    ],
  ])('answers %s with GOAWAY, error code %i', async (_, code, frames) => {
    const { client, failures, requests, closedStreams, closings } = await startConnection();
    client.greet().send(...frames);
    expect(await client.goawayCode()).toBe(code);
    expect(failures).toHaveLength(1);
    expect(closedStreams).toHaveLength(requests.length);
    await until(() => closings() === 1);
  });
});

describe('ServerConnection valid frames', () => {
  it('acknowledges PING with the same payload', async () => {
    const { client } = await startConnection();
    client.greet().send({ type: FrameType.ping, payload: Buffer.from('12345678') });
    expect(await client.frame(FrameType.ping)).toMatchObject({ flags: Flag.ack, payload: Buffer.from('12345678') });
  });

  it('ignores PRIORITY, unknown frames, unknown settings and reserved bits', async () => {
    const { client } = await startConnection(OK);
    client
      .greet([0x99, 1], [2, 0])
      .send(
        { type: FrameType.priority, streamId: 7, payload: Buffer.alloc(5) },
        { type: 0x42, flags: 0xff, streamId: 3, payload: Buffer.alloc(100) },
        { ...REQUEST, streamId: 0x80000001, flags: 0xd5 & ~Flag.padded },
      );
    expect(await client.status(1)).toBe('200');
    expect(client.body(1).toString()).toBe('hello');
  });

  it('removes padding and priority from HEADERS and DATA', async () => {
    let read = '';
    const { client } = await startConnection((stream) => {
      stream.body!.on('data', (chunk: Buffer) => {
        read += chunk.toString();
      });
      stream.body!.on('end', () => OK(stream));
    });
    const padded = (bytes: Buffer, padding: number) =>
      Buffer.concat([Buffer.of(padding), bytes, Buffer.alloc(padding)]);
    client.greet().send(
      {
        type: FrameType.headers,
        flags: Flag.padded | Flag.priority | END_HEADERS,
        streamId: 1,
        payload: padded(Buffer.concat([Buffer.alloc(5), block(...POST)]), 255),
      },
      { type: FrameType.data, flags: Flag.padded, streamId: 1, payload: padded(Buffer.from('ab'), 3) },
      { type: FrameType.data, flags: Flag.padded, streamId: 1, payload: padded(Buffer.alloc(0), 0) },
      {
        type: FrameType.data,
        flags: Flag.padded | Flag.endStream,
        streamId: 1,
        payload: padded(Buffer.from('c'), 200),
      },
    );
    expect(await client.status(1)).toBe('200');
    expect(read).toBe('abc');
  });

  it('joins a header block split over CONTINUATION frames', async () => {
    const { client, requests } = await startConnection(OK);
    const bytes = block(...GET, 'x-a', 'b');
    client
      .greet()
      .send(
        { ...REQUEST, flags: Flag.endStream, payload: bytes.subarray(0, 5) },
        { type: FrameType.continuation, streamId: 1, payload: bytes.subarray(5, 20) },
        { type: FrameType.continuation, flags: END_HEADERS, streamId: 1, payload: bytes.subarray(20) },
      );
    expect(await client.status(1)).toBe('200');
    expect(requests[0]!.headers).toEqual(['x-a', 'b', 'host', 'server']);
  });

  it('sends a table size update of 0 with the next response after the client reduced HEADER_TABLE_SIZE', async () => {
    const { client } = await startConnection(OK);
    client.greet([1, 0]).headers(1, GET).headers(3, GET);
    expect((await client.frame(FrameType.headers, 1)).payload[0]).toBe(0x20);
    expect((await client.frame(FrameType.headers, 3)).payload[0]).toBe(0x88);
  });

  it('sends a table size update of 0 with a response that was deferred while the client did not read', async () => {
    const { client, requests, arrived } = await startConnection();
    client.greet([4, 2 ** 31 - 1]).send({ type: FrameType.windowUpdate, payload: uint32(1e9) });
    client.headers(1, GET).headers(3, GET);
    await until(() => requests.length === 2);
    client.socket.pause();
    requests[0]!.respond(200, [], Buffer.alloc(2e7));
    await settle(20);
    requests[1]!.respond(200, [], null);
    client.send({ type: FrameType.settings, payload: settingsPayload([1, 0]) });
    await arrived();
    client.socket.resume();
    expect((await client.frame(FrameType.headers, 3)).payload[0]).toBe(0x20);
  });
});

describe('ServerConnection refused requests', () => {
  it('answers too large headers with 431, resets an incomplete request and serves the next stream', async () => {
    const { client, requests } = await startConnection(OK, { headerBytesMax: 1_000 });
    client.greet().headers(1, [...GET, 'x-a', 'a'.repeat(2_000)]);
    client.headers(3, [...POST, 'x-a', 'a'.repeat(2_000)], { endStream: false });
    client.headers(5, GET);
    expect(await client.status(1)).toBe('431');
    expect(await client.status(3)).toBe('431');
    expect(await client.rstCode(3)).toBe(ErrorCode.noError);
    expect(await client.status(5)).toBe('200');
    expect(requests.map(({ id }) => id)).toEqual([5]);
  });

  it('resets a request with too many header fields with ENHANCE_YOUR_CALM', async () => {
    const { client } = await startConnection(OK, { headersCountMax: 10 });
    client.greet().headers(1, [...GET, ...Array.from({ length: 20 }, (_, i) => [`x-${i}`, '1']).flat()]);
    expect(await client.rstCode(1)).toBe(ErrorCode.enhanceYourCalm);
    expect(await client.headers(3, GET).status(3)).toBe('200');
  });

  it('decodes no header block that is larger than a large headerBytesMax by HEADER_BLOCK_EXCESS_BYTES_MAX', async () => {
    const headerBytesMax = 1024 * 1024;
    const { client } = await startConnection(OK, { headerBytesMax });
    client.greet().headers(1, GET, { endHeaders: false });
    const more: Frame = { type: FrameType.continuation, streamId: 1, payload: Buffer.alloc(16_384) };
    const frames = Math.ceil((headerBytesMax + HEADER_BLOCK_EXCESS_BYTES_MAX) / 16_384);
    client.send(...Array.from({ length: frames }, () => more));
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM for a header block without an end', async () => {
    const { client } = await startConnection(OK);
    client.greet().headers(1, GET, { endHeaders: false });
    const more: Frame = { type: FrameType.continuation, streamId: 1, payload: Buffer.alloc(16_384) };
    client.send(more, more, more, more, more);
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM for a header block of many one-byte CONTINUATION frames', async () => {
    const { client } = await startConnection(OK);
    client.greet().headers(1, GET, { endHeaders: false });
    client.send(
      ...Array.from({ length: 100 }, () => ({ type: FrameType.continuation, streamId: 1, payload: Buffer.of(0) })),
    );
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('resets streams above MAX_CONCURRENT_STREAMS with REFUSED_STREAM', async () => {
    const { client, requests } = await startConnection(() => {}, { streamsMax: 2 });
    client.greet().headers(1, GET).headers(3, GET).headers(5, GET);
    expect(await client.rstCode(5)).toBe(ErrorCode.refusedStream);
    requests[0]!.respond(204, [], null);
    await client.status(1);
    client.headers(7, GET);
    await until(() => requests.length === 3);
  });

  it('resets a stream whose handler throws with INTERNAL_ERROR', async () => {
    const { client, failures } = await startConnection(() => {
      throw new Error('a fault');
    });
    client.greet().headers(1, GET);
    expect(await client.rstCode(1)).toBe(ErrorCode.internalError);
    expect(failures.map(({ message }) => message)).toEqual(['a fault']);
  });
});

import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock, settle, until } from '../../base/manual-clock.fixture.js';
import {
  block,
  type FrameClient,
  frameBytes,
  GET,
  LIMITS,
  POST,
  settingsPayload,
  startConnection,
  stopConnections,
  uint32,
} from './frame-client.fixture.js';
import { CONNECTION_WINDOW_BYTES, STREAM_UNSENT_BYTES_MAX, STREAM_WINDOW_BYTES } from './http2-limits.js';
import { DEFAULT_WINDOW_BYTES, ErrorCode, Flag, FrameType, PREFACE, readUint32 } from './protocol.js';
import { ServerConnection } from './server-connection.js';
import type { ServerStream } from './server-stream.js';
import { WriteBuffer } from './write-buffer.js';

afterEach(stopConnections);

const update = (streamId: number, bytes: number) => ({
  type: FrameType.windowUpdate,
  streamId,
  payload: uint32(bytes),
});
const returned = (client: FrameClient, streamId: number) =>
  client.frames
    .filter((frame) => frame.type === FrameType.windowUpdate && frame.streamId === streamId)
    .reduce((sum, { payload }) => sum + readUint32(payload, 0), 0);

const requestBytes = (streamId: number) =>
  frameBytes({
    type: FrameType.headers,
    flags: Flag.endStream | Flag.endHeaders,
    streamId,
    payload: block(...GET),
  });

describe('ServerConnection flow control of responses', () => {
  it('sends no more than the stream window, and continues after WINDOW_UPDATE', async () => {
    const body = Buffer.from('0123456789');
    const { client } = await startConnection((stream) => stream.respond(200, [], body));
    client.greet([4, 3]).headers(1, GET);
    await until(() => client.body(1).length === 3);
    await client.roundTrip();
    expect(client.body(1).length).toBe(3);
    client.send(update(1, 1));
    await until(() => client.body(1).length === 4);
    client.send(update(1, 100));
    await until(() => client.body(1).length === 10);
    expect(client.body(1)).toEqual(body);
  });

  it('applies changes of SETTINGS_INITIAL_WINDOW_SIZE to open streams, also below zero', async () => {
    const { client } = await startConnection((stream) => stream.respond(200, [], Buffer.alloc(100, 'x')));
    client.greet([4, 10]).headers(1, GET);
    await until(() => client.body(1).length === 10);
    const settings = (bytes: number) => ({ type: FrameType.settings, payload: settingsPayload([4, bytes]) });
    client.send(settings(4), update(1, 6));
    await client.roundTrip();
    expect(client.body(1).length).toBe(10);
    client.send(update(1, 5));
    await until(() => client.body(1).length === 15);
    client.send(settings(90));
    await until(() => client.body(1).length === 100);
  });

  it('sends no more than the connection window, shared round-robin between streams', async () => {
    const { client } = await startConnection((stream) => stream.respond(200, [], Buffer.alloc(100_000, 'x')));
    client.greet([4, 1_000_000]).headers(1, GET).headers(3, GET);
    await until(() => client.body(1).length + client.body(3).length === 65_535);
    await client.roundTrip();
    expect(Math.abs(client.body(1).length - client.body(3).length)).toBeLessThanOrEqual(16_385);
    client.send(update(0, 200_000));
    await until(() => client.body(1).length === 100_000 && client.body(3).length === 100_000);
    const order = client.frames.filter(({ type }) => type === FrameType.data).map(({ streamId }) => streamId);
    expect(order.slice(0, 4)).toEqual([1, 3, 1, 3]);
  });

  it('sends a response without a body although another stream waits for its window', async () => {
    const { client } = await startConnection((stream) =>
      stream.respond(200, [], stream.id === 1 ? Buffer.alloc(10) : null),
    );
    client.greet([4, 0]).headers(1, GET).headers(3, GET);
    await client.status(3);
    expect(client.body(1).length).toBe(0);
  });

  it('applies back-pressure at a bound of unsent bytes and calls drained after WINDOW_UPDATE', async () => {
    const { client, requests, drained } = await startConnection((stream) => stream.head(200, []));
    client.greet([4, 0]).headers(1, GET);
    await until(() => requests.length === 1);
    const chunk = Buffer.alloc(16 * 1024);
    let written = 0;
    while (requests[0]!.write(chunk)) written += chunk.length;
    expect(written).toBeLessThan(STREAM_UNSENT_BYTES_MAX);
    await client.roundTrip();
    expect(drained).toEqual([]);
    client.send(update(1, 1_000_000), update(0, 1_000_000));
    await until(() => drained.length === 1);
    requests[0]!.end([]);
    await until(() => client.body(1).length === written + chunk.length);
  });

  it('applies back-pressure at a bound of unsent chunks and calls drained after WINDOW_UPDATE', async () => {
    const { client, requests, drained } = await startConnection((stream) => stream.head(200, []));
    client.greet([4, 0]).headers(1, GET);
    await until(() => requests.length === 1);
    let written = 0;
    do written++;
    while (requests[0]!.write(Buffer.of(written)) && written < STREAM_UNSENT_BYTES_MAX);
    expect(written).toBeLessThan(2_000);
    await client.roundTrip();
    expect(drained).toEqual([]);
    for (let i = 0; i < 10; i++) requests[0]!.write(Buffer.of(i));
    client.send(update(1, 5));
    await until(() => client.body(1).length === 5);
    expect(drained).toEqual([]);
    client.send(update(1, 1_000_000));
    await until(() => drained.length === 1);
    requests[0]!.end([]);
    await until(() => client.body(1).length === written + 10);
  });

  it('keeps responses in their streams while the client does not read its socket', async () => {
    const { client, connection, requests, closedStreams } = await startConnection(() => {}, { streamsMax: 100 });
    client.greet([4, 2 ** 31 - 1]).send(update(0, 2 ** 31 - 1 - 65_535));
    const body = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 50; i++) client.headers(2 * i + 1, GET);
    await until(() => requests.length === 50);
    client.socket.pause();
    for (const stream of requests) stream.respond(200, [], body);
    let before = -1;
    // Until the kernel's socket buffers are full.
    while (before !== closedStreams.length) {
      before = closedStreams.length;
      await settle(50);
    }
    expect(connection.streamCount).toBeGreaterThan(20);
    client.socket.resume();
    await until(() => closedStreams.length === 50, 'all responses', 15_000);
  });

  it('defers response heads while the client does not read its socket', async () => {
    const { client, connection, requests } = await startConnection(() => {}, { streamsMax: 1_000 });
    client.greet();
    for (let i = 0; i < 600; i++) client.headers(2 * i + 1, GET);
    await until(() => requests.length === 600);
    client.socket.pause();
    const large = ['x-large', 'x'.repeat(15_000)];
    for (const stream of requests) stream.respond(200, large, null);
    await settle(20);
    expect(connection.streamCount).toBeGreaterThan(100);
    client.socket.resume();
    await until(() => connection.streamCount === 0, 'all responses', 15_000);
    await until(() => client.frames.filter(({ type }) => type === FrameType.headers).length === 600, 'all heads');
    expect(client.frames.filter(({ type }) => type === FrameType.data)).toEqual([]);
  });

  it('copies bytes that wait for a flow-control window out of a shared buffer', async () => {
    const shared = Buffer.alloc(64 * 1024, 'x');
    const body = shared.subarray(100, 110);
    const { client, requests } = await startConnection((stream) => stream.respond(200, [], body));
    client.greet([4, 3]).headers(1, GET);
    await until(() => client.body(1).length === 3);
    await client.roundTrip();
    expect(requests).toHaveLength(1);
    shared.fill('y');
    client.send(update(1, 7));
    await until(() => client.body(1).length === 10);
    expect(client.body(1).toString()).toBe('xxxxxxxxxx');
  });

  it('copies bytes that wait for the socket out of a shared buffer', async () => {
    const written: Buffer[] = [];
    let go = () => {};
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, callback) {
        written.push(Buffer.from(chunk));
        go = callback;
      },
    });
    const shared = Buffer.alloc(64 * 1024, 'x');
    const bodies = [Buffer.alloc(300 * 1024, '-'), shared.subarray(100, 110)];
    const events = {
      request: (stream: ServerStream) => stream.respond(200, [], bodies.shift()!),
      closed() {},
      failed() {},
    };
    const connection = new ServerConnection({ socket, limits: LIMITS, clock: new ManualClock(), events });
    const settings = frameBytes({ type: FrameType.settings, payload: settingsPayload([4, 1_000_000]) });
    socket.push(Buffer.concat([PREFACE, settings, frameBytes(update(0, 1_000_000)), requestBytes(1)]));
    await settle(4);
    socket.push(requestBytes(3));
    await settle(4);
    shared.fill('y');
    while (!Buffer.concat(written).includes('xxxxxxxxxx')) {
      expect(Buffer.concat(written).includes('y'.repeat(10))).toBe(false);
      go();
      await settle(1);
    }
    connection.destroy();
  });

  it('keeps no slab alive for small frames that a client does not read', async () => {
    const socket = new Duplex({ read() {}, write() {} });
    const write = vi.spyOn(socket, 'write');
    const events = { request() {}, closed() {}, failed() {} };
    const connection = new ServerConnection({ socket, limits: LIMITS, clock: new ManualClock(), events });
    socket.push(Buffer.concat([PREFACE, frameBytes({ type: FrameType.settings })]));
    for (let i = 0; i < 200; i++) {
      socket.push(frameBytes({ type: FrameType.ping, payload: Buffer.alloc(8) }));
      await settle(2);
      const others = new WriteBuffer();
      for (let bytes = 0; bytes < 64 * 1024; bytes += 4 * 1024) others.append(Buffer.alloc(4 * 1024));
      others.take();
    }
    const kept = new Set(write.mock.calls.map(([chunk]) => (chunk as Buffer).buffer));
    expect(write).toHaveBeenCalledTimes(200);
    expect([...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(256 * 1024);
    connection.destroy();
  });
});

describe('ServerConnection flow control of request bodies', () => {
  it('sends WINDOW_UPDATE in steps as the body is read', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: false });
    await until(() => requests.length === 1);
    let read = 0;
    requests[0]!.body!.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    const frames = 160;
    for (let i = 0; i < frames; i++) {
      client.data(1, 16_384);
      if (i % 8 === 7) await client.roundTrip();
    }
    await until(() => read === frames * 16_384);
    await client.roundTrip();
    expect(returned(client, 1)).toBeGreaterThan(frames * 16_384 - STREAM_WINDOW_BYTES);
    const updates = client.frames.filter(({ type, streamId }) => type === FrameType.windowUpdate && streamId === 1);
    expect(updates.length).toBeLessThan(frames / 2);
  });

  it('sends no WINDOW_UPDATE while the body is not read, and resets a stream that exceeds its window', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: false });
    for (let sent = 0; sent < STREAM_WINDOW_BYTES; sent += 16_384) client.data(1, 16_384);
    await client.roundTrip();
    expect(returned(client, 1)).toBe(0);
    expect(requests[0]!.body!.readableLength).toBe(0);
    client.data(1, 1);
    expect(await client.rstCode(1)).toBe(ErrorCode.flowControlError);
  });

  it('delivers the body of one stream while another one is not read', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: false });
    for (let sent = 0; sent < STREAM_WINDOW_BYTES; sent += 16_384) client.data(1, 16_384);
    client.headers(3, POST, { endStream: false }).data(3, 'small', { endStream: true });
    await until(() => requests.length === 2);
    let read = '';
    requests[1]!.body!.on('data', (chunk: Buffer) => {
      read += chunk.toString();
    });
    await until(() => read === 'small');
  });

  it('returns the connection window early when unread streams hold most of it', async () => {
    const unread = 13;
    const { client } = await startConnection(
      (stream) => {
        if (stream.id > 2 * unread) stream.body!.resume();
      },
      { streamsMax: 100 },
    );
    client.greet();
    for (let i = 0; i < unread; i++) {
      client.headers(2 * i + 1, POST, { endStream: false });
      for (let sent = 0; sent < STREAM_WINDOW_BYTES; sent += 16_384) client.data(2 * i + 1, 16_384);
    }
    const id = 2 * unread + 1;
    client.headers(id, POST, { endStream: false });
    const left = CONNECTION_WINDOW_BYTES - unread * STREAM_WINDOW_BYTES;
    for (let sent = 0; sent < left; sent += 16_384) {
      client.data(id, 16_384);
      await client.roundTrip();
    }
    expect(returned(client, 0) - (CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)).toBeGreaterThan(left / 2);
  });

  it('sends GOAWAY FLOW_CONTROL_ERROR when DATA exceeds the connection window', async () => {
    const streams = CONNECTION_WINDOW_BYTES / STREAM_WINDOW_BYTES + 1;
    const { client } = await startConnection(() => {}, { streamsMax: 100 });
    client.greet();
    for (let i = 0; i < streams; i++) {
      client.headers(2 * i + 1, POST, { endStream: false });
      for (let sent = 0; sent < STREAM_WINDOW_BYTES; sent += 16_384) client.data(2 * i + 1, 16_384);
    }
    expect(await client.goawayCode()).toBe(ErrorCode.flowControlError);
  });

  it('returns bytes of destroyed bodies and refused requests to the connection window', async () => {
    const { client, requests } = await startConnection((stream) => {
      if (stream.id % 4 === 1) stream.body!.destroy();
      else stream.respond(403, [], null);
    });
    client.greet();
    let sent = 0;
    for (let id = 1; sent < 2 * CONNECTION_WINDOW_BYTES; id += 2) {
      client.headers(id, POST, { endStream: false });
      if (id % 4 === 3) await client.rstCode(id);
      for (let i = 0; i < 8; i++) {
        client.data(id, 16_384);
        sent += 16_384;
      }
      await client.roundTrip();
      if (id % 4 === 1) requests.at(-1)!.respond(200, [], null);
    }
    const atFirst = CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;
    expect(returned(client, 0) - atFirst).toBeGreaterThan(sent - CONNECTION_WINDOW_BYTES / 4 - 1);
  });

  it('counts padding against the windows and returns it at once', async () => {
    const { client, requests } = await startConnection((stream) => void stream.body!.resume());
    client.greet().headers(1, POST, { endStream: false });
    const padded = { type: FrameType.data, flags: Flag.padded, streamId: 1, payload: Buffer.alloc(257, 255) };
    const sent = 2 * STREAM_WINDOW_BYTES;
    for (let bytes = 0; bytes < sent; bytes += 200 * 257) {
      client.send(...Array.from({ length: 200 }, () => padded));
      await client.roundTrip();
    }
    expect(requests[0]!.open).toBe(true);
    expect(returned(client, 1)).toBeGreaterThan(sent - STREAM_WINDOW_BYTES);
  });
});

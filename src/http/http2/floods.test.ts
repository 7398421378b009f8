import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import { type Frame, frameBytes, GET, POST, startConnection, stopConnections, uint32 } from './frame-client.fixture.js';
import { CONNECTION_UNSENT_BYTES_MAX, CONTROL_UNSENT_BYTES_MAX } from './http2-limits.js';
import { ErrorCode, FrameType } from './protocol.js';

afterEach(stopConnections);

const reset = (streamId: number): Frame => ({ type: FrameType.rstStream, streamId, payload: uint32(ErrorCode.cancel) });
const repeated = (frame: Frame, times: number) => {
  const bytes = frameBytes(frame);
  return Buffer.concat(Array.from({ length: times }, () => bytes));
};

describe('ServerConnection flood protection', () => {
  it.each<[string, Frame]>([
    ['PING', { type: FrameType.ping, payload: Buffer.alloc(8) }],
    ['SETTINGS', { type: FrameType.settings }],
    ['PRIORITY', { type: FrameType.priority, streamId: 3, payload: Buffer.alloc(5) }],
    ['empty DATA', { type: FrameType.data, streamId: 1 }],
    ['DATA with padding only', { type: FrameType.data, flags: 0x8, streamId: 1, payload: Buffer.of(0) }],
    ['WINDOW_UPDATE', { type: FrameType.windowUpdate, streamId: 0, payload: uint32(1) }],
    ['RST_STREAM on a closed stream', { type: FrameType.rstStream, streamId: 3, payload: uint32(0) }],
    ['unknown frames', { type: 0x55, payload: Buffer.alloc(1) }],
  ])('sends GOAWAY ENHANCE_YOUR_CALM after a flood of %s', async (_, frame) => {
    const { client, closedStreams } = await startConnection();
    client.greet().headers(1, POST, { endStream: false }).headers(3, GET).send(reset(3));
    await client.roundTrip();
    client.socket.write(repeated(frame, 10_000));
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
    expect(closedStreams).toEqual([3, 1]);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM after a flood of requests reset by the client (CVE-2023-44487)', async () => {
    const { client, requests } = await startConnection();
    client.greet();
    for (let id = 1; id < 10_000; id += 2) client.headers(id, GET).send(reset(id));
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
    expect(requests.length).toBeLessThan(1_000);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM after a flood of requests reset by the server (CVE-2025-8671)', async () => {
    const { client, requests } = await startConnection();
    client.greet();
    for (let id = 1; id < 10_000; id += 2) {
      client.headers(id, GET).send({ type: FrameType.windowUpdate, streamId: id, payload: uint32(0) });
    }
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
    expect(requests.length).toBeLessThan(1_000);
  });

  it('limits requests reset by the client even while it reads a large response on another stream', async () => {
    const { client, requests, connection } = await startConnection((stream) => stream.head(200, []));
    client
      .greet([4, 2 ** 31 - 1])
      .send({ type: FrameType.windowUpdate, payload: uint32(1e9) })
      .headers(1, GET);
    await client.status(1);
    const frameCount = () => client.frames.filter(({ type }) => type === FrameType.data).length;
    for (let id = 3, seen = 0; id < 5_000 && connection.streamCount > 0; id += 2) {
      client.headers(id, GET).send(reset(id));
      if (id % 20 !== 1) continue;
      requests[0]!.write(Buffer.alloc(50_000));
      await until(() => frameCount() > seen || connection.streamCount === 0);
      seen = frameCount();
    }
    expect(connection.streamCount).toBe(0);
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
    expect(requests.length).toBeLessThan(1_000);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM after a flood of malformed requests', async () => {
    const { client } = await startConnection();
    client.greet();
    for (let id = 1; id < 10_000; id += 2) client.headers(id, ['x', 'y']);
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM after a flood of WINDOW_UPDATEs of one byte', async () => {
    const { client } = await startConnection((stream) => stream.respond(200, [], Buffer.alloc(100_000)));
    client.greet([4, 0]).headers(1, GET);
    for (let i = 0; i < 3_000 && !client.isClosed; i++) {
      client.send({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(1) });
      await settle(2);
    }
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('closes the connection of a client that sends PING and never reads the acknowledgements', async () => {
    const { client, clock, failures, closings } = await startConnection((stream) =>
      stream.respond(200, [], Buffer.alloc(1e7)),
    );
    client
      .greet([4, 2 ** 31 - 1])
      .send({ type: FrameType.windowUpdate, payload: uint32(1e9) })
      .headers(1, GET);
    await client.status(1);
    client.socket.pause();
    // Slow enough for the token bucket to refill: only the bound on unsent control frames can end
    // it.
    for (let sent = 0; failures.length === 0 && sent < 1e7; sent += 17 * 1_000) {
      client.socket.write(repeated({ type: FrameType.ping, payload: Buffer.alloc(8) }, 1_000));
      await clock.advance(10_000);
      await settle(5);
    }
    expect(failures[0]?.message).toMatch(/does not read/);
    await clock.advance(5_000);
    await until(() => closings() === 1);
    expect(CONNECTION_UNSENT_BYTES_MAX + CONTROL_UNSENT_BYTES_MAX).toBeLessThan(1e6);
  });
});

describe('ServerConnection flood protection of busy clients', () => {
  it('allows two thousand requests with two WINDOW_UPDATEs each', async () => {
    const { client, connection } = await startConnection((stream) => stream.respond(200, [], Buffer.alloc(100)));
    client.greet();
    for (let id = 1; id < 4_000; id += 2) {
      client
        .headers(id, GET)
        .send(
          { type: FrameType.windowUpdate, payload: uint32(100) },
          { type: FrameType.windowUpdate, streamId: id, payload: uint32(100) },
        );
      if (id % 20 === 1) await client.roundTrip();
    }
    await client.roundTrip();
    expect(connection.streamCount).toBe(0);
  });

  it('allows 250 streams to be reset at once every ten seconds', async () => {
    const { client, clock, closedStreams } = await startConnection(() => {}, { streamsMax: 250 });
    client.greet();
    for (let round = 0; round < 10; round++) {
      const ids = Array.from({ length: 250 }, (_, i) => 2 * (round * 250 + i) + 1);
      for (const id of ids) client.headers(id, GET);
      for (const id of ids) client.send(reset(id));
      await client.roundTrip();
      await clock.advance(10_000);
    }
    expect(closedStreams).toHaveLength(2_500);
  });
});

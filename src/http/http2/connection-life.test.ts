import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import {
  block,
  type FrameClient,
  frameBytes,
  GET,
  POST,
  startConnection,
  stopConnections,
} from './frame-client.fixture.js';
import { ErrorCode, Flag, FrameType, PREFACE, readUint32 } from './protocol.js';
import type { ServerStream } from './server-stream.js';

afterEach(stopConnections);

const NO_CONTENT = (stream: ServerStream) => stream.respond(204, [], null);
const goaways = (client: FrameClient) => client.frames.filter(({ type }) => type === FrameType.goaway);
const lastIds = (client: FrameClient) => goaways(client).map(({ payload }) => readUint32(payload, 0));

/** Acknowledges the PING that the server sends after its first GOAWAY. */
async function acknowledgePing(client: FrameClient): Promise<void> {
  const { payload } = await client.frame(FrameType.ping);
  client.send({ type: FrameType.ping, flags: Flag.ack, payload });
}

describe('ServerConnection timeouts', () => {
  it('closes a connection whose preface is incomplete after the header timeout', async () => {
    const { client, clock, arrived } = await startConnection();
    client.socket.write(PREFACE.subarray(0, 10));
    await arrived();
    await clock.advance(4_900);
    expect(client.isClosed).toBe(false);
    await clock.advance(200);
    await client.closed;
  });

  it('sends GOAWAY NO_ERROR to a client that sends no request within the header timeout', async () => {
    const { client, clock } = await startConnection();
    client.greet();
    await client.roundTrip();
    await clock.advance(5_100);
    await client.frame(FrameType.goaway);
    await clock.advance(5_000);
    expect(await client.goawayCode()).toBe(ErrorCode.noError);
  });

  it.each([
    ['a header block without END_HEADERS', (client: FrameClient) => client.headers(3, GET, { endHeaders: false })],
    [
      'an incomplete HEADERS frame',
      (client: FrameClient) =>
        client.socket.write(
          frameBytes({ type: FrameType.headers, streamId: 3, payload: block(...GET) }).subarray(0, 12),
        ),
    ],
    ['an incomplete frame header', (client: FrameClient) => client.socket.write(Buffer.of(0))],
  ])('sends GOAWAY ENHANCE_YOUR_CALM after the header timeout for %s, although a request is open', async (_, begin) => {
    const { client, clock, requests, arrived } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    await clock.advance(20_000);
    begin(client);
    await arrived();
    await clock.advance(4_000);
    expect(client.isClosed).toBe(false);
    await clock.advance(1_100);
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('sends GOAWAY ENHANCE_YOUR_CALM after the header timeout for HEADERS sent byte by byte', async () => {
    const { client, clock, requests, arrived } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    const bytes = frameBytes({ type: FrameType.headers, flags: 0x5, streamId: 3, payload: block(...GET) });
    for (let i = 0; i < 8 && !client.isClosed; i++) {
      client.socket.write(bytes.subarray(i, i + 1));
      await arrived();
      await clock.advance(1_000);
    }
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('applies no header timeout to a slow body, nor to many HEADERS frames each split over two reads', async () => {
    const { client, clock, requests, arrived } = await startConnection(NO_CONTENT);
    client.greet();
    const frame = (id: number) =>
      frameBytes({ type: FrameType.headers, flags: 0x5, streamId: id, payload: block(...GET) });
    client.socket.write(frame(1).subarray(0, 12));
    for (let id = 3; id < 21; id += 2) {
      await arrived();
      await clock.advance(1_000);
      client.socket.write(Buffer.concat([frame(id - 2).subarray(12), frame(id).subarray(0, 12)]));
    }
    await until(() => requests.length === 9);
    client.socket.write(frame(19).subarray(12));
    client.headers(21, POST, { endStream: false });
    client.socket.write(frameBytes({ type: FrameType.data, streamId: 21, payload: Buffer.alloc(100) }).subarray(0, 50));
    await arrived();
    await clock.advance(30_000);
    expect(client.isClosed).toBe(false);
    expect(goaways(client)).toEqual([]);
  });

  it('sends GOAWAY after the idle timeout even if the client sends PING', async () => {
    const { client, clock, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    await clock.advance(200_000);
    expect(goaways(client)).toEqual([]);
    NO_CONTENT(requests[0]!);
    await client.status(1);
    for (let i = 0; i < 5; i++) {
      await clock.advance(10_000);
      await client.roundTrip();
    }
    expect(goaways(client)).toEqual([]);
    await clock.advance(10_100);
    await client.frame(FrameType.goaway);
    await clock.advance(3_000);
    await client.closed;
  });
});

describe('ServerConnection drain', () => {
  it('still applies the header timeout while draining', async () => {
    const { client, clock, requests, arrived } = await startConnection();
    client.greet();
    await client.roundTrip();
    await clock.advance(5_100);
    await client.frame(FrameType.goaway);
    client.headers(1, GET).headers(3, GET, { endHeaders: false });
    await until(() => requests.length === 1);
    await arrived();
    await clock.advance(5_100);
    expect(await client.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
  });

  it('serves requests in flight, ignores streams after the final GOAWAY, and closes after the last response', async () => {
    const { client, connection, requests, closings } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    connection.drain();
    connection.drain();
    client.headers(3, GET);
    await until(() => requests.length === 2);
    await acknowledgePing(client);
    await until(() => goaways(client).length === 2);
    expect(lastIds(client)).toEqual([2 ** 31 - 1, 3]);
    client.headers(5, POST, { endStream: false }).data(5, 'ignored');
    await client.roundTrip();
    expect(requests).toHaveLength(2);
    for (const stream of requests) stream.respond(200, [], Buffer.from('last'));
    await client.closed;
    expect(client.body(1).toString() + client.body(3).toString()).toBe('lastlast');
    await until(() => closings() === 1);
    expect(await client.goawayCode()).toBe(ErrorCode.noError);
  });

  it('never raises the last stream id of an earlier GOAWAY', async () => {
    const { client, connection, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    connection.drain();
    await acknowledgePing(client);
    client.headers(3, GET).send({ type: FrameType.ping, payload: Buffer.alloc(1) });
    expect(await client.goawayCode()).toBe(ErrorCode.frameSizeError);
    expect(lastIds(client)).toEqual([2 ** 31 - 1, 1, 1]);
  });

  it('closes a draining connection when the client resets its last stream', async () => {
    const { client, connection, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    connection.drain();
    await acknowledgePing(client);
    await until(() => goaways(client).length === 2);
    client.send({ type: FrameType.rstStream, streamId: 1, payload: Buffer.alloc(4) });
    await client.closed;
  });

  it('closes a draining connection whose client sends nothing, after a timeout', async () => {
    const { client, connection, clock, closings } = await startConnection();
    client.socket.pause();
    await settle();
    connection.drain();
    await clock.advance(3_000);
    await until(() => closings() === 1);
  });

  it('closes a draining connection whose client does not read, after a timeout', async () => {
    const { client, connection, clock, requests, failures, closings } = await startConnection();
    client.greet().headers(1, GET).headers(3, GET);
    await until(() => requests.length === 2);
    client.socket.pause();
    for (const stream of requests) stream.respond(200, ['x-large', 'x'.repeat(200_000)], null);
    connection.drain();
    expect(failures[0]?.message).toMatch(/does not read/);
    await clock.advance(3_000);
    await until(() => closings() === 1);
  });

  it('serves the open streams of a client that sent GOAWAY, then closes', async () => {
    const { client, requests } = await startConnection();
    client
      .greet()
      .headers(1, GET)
      .send({ type: FrameType.goaway, payload: Buffer.alloc(8) });
    await client.frame(FrameType.goaway);
    requests[0]!.respond(200, [], Buffer.from('last'));
    await client.closed;
    expect(client.body(1).toString()).toBe('last');
  });
});

describe('ServerConnection disconnects', () => {
  it.each([
    ['resets the connection', (client: FrameClient) => client.socket.resetAndDestroy()],
    ['half-closes', (client: FrameClient) => client.socket.end()],
    ['destroys its socket', (client: FrameClient) => client.socket.destroy()],
  ])('calls closed once for the connection and once for each stream when the client %s', async (_, leave) => {
    const { client, requests, closedStreams, closings, connection } = await startConnection((stream) => {
      stream.head(200, []);
      stream.write(Buffer.alloc(1e6));
    });
    client.greet().headers(1, GET).headers(3, POST, { endStream: false });
    await until(() => requests.length === 2);
    leave(client);
    await until(() => closings() === 1);
    expect(closedStreams).toEqual([1, 3]);
    expect(requests[1]!.body!.destroyed).toBe(true);
    connection.drain();
    connection.destroy();
    for (const stream of requests) {
      stream.write(Buffer.alloc(1));
      stream.end(['a', 'b']);
      stream.reset();
    }
    await settle();
    expect(closedStreams).toEqual([1, 3]);
    expect(closings()).toBe(1);
  });

  it('dispatches no further request after destroy() inside a request handler', async () => {
    const { client, requests, connection, closings } = await startConnection((stream) => {
      stream.respond(200, [], Buffer.alloc(10));
      connection.destroy();
    });
    client.greet().headers(1, GET).headers(3, GET);
    await until(() => closings() === 1);
    expect(requests).toHaveLength(1);
  });
});

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

/** Answers the server's own PING, as every client does. */
async function acknowledgePing(client: FrameClient): Promise<void> {
  const { payload } = await client.frame(FrameType.ping);
  client.send({ type: FrameType.ping, flags: Flag.ack, payload });
}

describe('a connection’s times', () => {
  it('gives up on a preface that does not come', async () => {
    const { client, clock, arrived } = await startConnection();
    client.socket.write(PREFACE.subarray(0, 10));
    await arrived();
    await clock.advance(4_900);
    expect(client.isClosed).toBe(false);
    await clock.advance(200);
    await client.closed;
  });

  it('sends a client away that asks nothing', async () => {
    const { client, clock } = await startConnection();
    client.greet();
    await client.roundTrip();
    await clock.advance(5_100);
    await client.frame(FrameType.goaway);
    await clock.advance(5_000);
    expect(await client.goawayCode()).toBe(ErrorCode.noError);
  });

  it.each([
    ['a block of headers without its end', (client: FrameClient) => client.headers(3, GET, { endHeaders: false })],
    [
      'a frame of headers without its end',
      (client: FrameClient) =>
        client.socket.write(
          frameBytes({ type: FrameType.headers, streamId: 3, payload: block(...GET) }).subarray(0, 12),
        ),
    ],
    ['the beginning of some frame', (client: FrameClient) => client.socket.write(Buffer.of(0))],
  ])('gives up on %s, whatever else is going on', async (_, begin) => {
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

  it('gives up on headers that keep coming and do not end', async () => {
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

  it('is patient with a slow body and with many requests each cut in two', async () => {
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

  it('sends a client away that was idle for too long, however often it pings', async () => {
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

describe('a draining connection', () => {
  it('still gives up on headers that do not come in time', async () => {
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

  it('takes what is on its way, then refuses, and closes after the last answer', async () => {
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

  it('never names a later stream in GOAWAY than it has before', async () => {
    const { client, connection, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    connection.drain();
    await acknowledgePing(client);
    client.headers(3, GET).send({ type: FrameType.ping, payload: Buffer.alloc(1) });
    expect(await client.goawayCode()).toBe(ErrorCode.frameSizeError);
    expect(lastIds(client)).toEqual([2 ** 31 - 1, 1, 1]);
  });

  it('closes when the client takes its last request back', async () => {
    const { client, connection, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    connection.drain();
    await acknowledgePing(client);
    await until(() => goaways(client).length === 2);
    client.send({ type: FrameType.rstStream, streamId: 1, payload: Buffer.alloc(4) });
    await client.closed;
  });

  it('does not wait for a client that says nothing', async () => {
    const { client, connection, clock, closings } = await startConnection();
    client.socket.pause();
    await settle();
    connection.drain();
    await clock.advance(3_000);
    await until(() => closings() === 1);
  });

  it('does not wait for a client that has not read what there was to say before', async () => {
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

  it('closes when a client that said GOAWAY has its answers', async () => {
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

describe('a connection that breaks', () => {
  it.each([
    ['is reset', (client: FrameClient) => client.socket.resetAndDestroy()],
    ['ends', (client: FrameClient) => client.socket.end()],
    ['is destroyed', (client: FrameClient) => client.socket.destroy()],
  ])('because it %s closes every stream once and says so once', async (_, leave) => {
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

  it('by being destroyed inside a request leaves nothing behind', async () => {
    const { client, requests, connection, closings } = await startConnection((stream) => {
      stream.respond(200, [], Buffer.alloc(10));
      connection.destroy();
    });
    client.greet().headers(1, GET).headers(3, GET);
    await until(() => closings() === 1);
    expect(requests).toHaveLength(1);
  });
});

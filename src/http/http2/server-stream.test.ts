import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import { block, GET, POST, startConnection, stopConnections, uint32 } from './frame-client.fixture.js';
import { ErrorCode, Flag, FrameType } from './protocol.js';
import type { ServerStream } from './server-stream.js';

afterEach(stopConnections);

const HEAD = [':method', 'HEAD', ':scheme', 'https', ':path', '/', ':authority', 'server'];

function collect(stream: ServerStream): { text: string; error: Error | undefined; ended: boolean } {
  const seen = { text: '', error: undefined as Error | undefined, ended: false };
  stream.body!.on('data', (chunk: Buffer) => {
    seen.text += chunk.toString();
  });
  stream.body!.on('end', () => {
    seen.ended = true;
  });
  stream.body!.on('error', (error) => {
    seen.error = error;
  });
  return seen;
}

describe('ServerStream response', () => {
  it('sends HEADERS and one DATA frame with END_STREAM, and closes the stream once', async () => {
    const { client, requests, closedStreams, connection } = await startConnection((stream) =>
      stream.respond(201, ['X-Thing', 'one', 'Connection', 'close'], Buffer.from('hello')),
    );
    client.greet().headers(1, GET);
    expect(await client.status(1)).toBe('201');
    await client.roundTrip();
    expect(client.frames.find(({ type }) => type === FrameType.data)).toMatchObject({
      flags: Flag.endStream,
      payload: Buffer.from('hello'),
    });
    expect(closedStreams).toEqual([1]);
    expect(connection.streamCount).toBe(0);
    requests[0]!.respond(500, [], null);
    requests[0]!.reset();
    await client.roundTrip();
    expect(client.frames.filter(({ streamId }) => streamId === 1)).toHaveLength(2);
  });

  it.each([
    [204, GET],
    [304, GET],
    [200, HEAD],
  ])('sends no body with status %i where HTTP allows none', async (status, request) => {
    const { client } = await startConnection((stream) => {
      if (stream.id === 1) stream.respond(status, ['content-length', '5'], Buffer.from('hello'));
      else {
        stream.head(status, ['content-length', '5']);
        stream.write(Buffer.from('hello'));
        stream.end([]);
      }
    });
    client.greet().headers(1, request).headers(3, request);
    expect(await client.status(1)).toBe(String(status));
    expect((await client.frame(FrameType.headers, 1)).flags & Flag.endStream).toBe(Flag.endStream);
    expect(await client.status(3)).toBe(String(status));
    await client.roundTrip();
    expect(client.body(1).length + client.body(3).length).toBe(0);
    expect(client.frames.filter(({ streamId }) => streamId === 3).at(-1)!.flags & Flag.endStream).toBe(Flag.endStream);
  });

  it('joins chunks written in one turn into one DATA frame', async () => {
    const { client, requests } = await startConnection((stream) => {
      stream.head(200, []);
      for (const part of ['a', 'b', 'c']) stream.write(Buffer.from(part));
    });
    client.greet().headers(1, GET);
    expect((await client.frame(FrameType.data, 1)).payload.toString()).toBe('abc');
    requests[0]!.write(Buffer.from('d'));
    requests[0]!.end([]);
    await until(() => client.body(1).toString() === 'abcd');
    const last = client.frames.filter(({ streamId }) => streamId === 1).at(-1)!;
    expect(last).toMatchObject({ flags: Flag.endStream, payload: Buffer.from('d') });
  });

  it('sends trailers after the body', async () => {
    const { client } = await startConnection((stream) => {
      stream.head(200, []);
      stream.write(Buffer.from('a'));
      stream.end(['X-Sum', '42']);
    });
    client.greet().headers(1, GET);
    await until(() => client.frames.filter(({ type }) => type === FrameType.headers).length === 2);
    const last = client.frames.at(-1)!;
    expect(last.flags).toBe(Flag.endStream | Flag.endHeaders);
    expect(last.payload).toEqual(Buffer.concat([Buffer.of(0x20), block('x-sum', '42')]));
  });

  it('resets the stream with INTERNAL_ERROR if its trailers cannot be sent', async () => {
    const { client } = await startConnection((stream) => {
      stream.head(200, []);
      stream.end(['X-Sum', 'a\nb']);
    });
    client.greet().headers(1, GET);
    expect(await client.rstCode(1)).toBe(ErrorCode.internalError);
  });

  it.each([
    ['status 999', 999, []],
    ['an interim status (101)', 101, []],
    ['a line feed in a value', 200, ['x', 'a\nb']],
  ])('respond() throws for %s and sends nothing', async (_, status, headers) => {
    let thrown: unknown;
    const { client } = await startConnection((stream) => {
      try {
        stream.respond(status, headers, null);
      } catch (error) {
        thrown = error;
        stream.reset();
      }
    });
    client.greet().headers(1, GET);
    expect(await client.rstCode(1)).toBe(ErrorCode.internalError);
    expect(thrown).toBeInstanceOf(Error);
    expect(client.frames.filter(({ type }) => type === FrameType.headers)).toEqual([]);
  });

  it('sends headers larger than one frame in CONTINUATION', async () => {
    const value = 'v'.repeat(20_000);
    const { client } = await startConnection((stream) => stream.respond(200, ['x-large', value], Buffer.from('b')));
    client.greet().headers(1, GET);
    const last = await client.frame(FrameType.continuation, 1);
    const first = await client.frame(FrameType.headers, 1);
    expect([first.flags, last.flags]).toEqual([0, Flag.endHeaders]);
    expect(Buffer.concat([first.payload, last.payload]).toString('latin1')).toContain(value);
  });

  it('sends RST_STREAM NO_ERROR after a response to an incomplete request, and drops later frames of it', async () => {
    const { client, closedStreams, requests } = await startConnection((stream) =>
      stream.respond(403, [], Buffer.from('no')),
    );
    client.greet().headers(1, POST, { endStream: false }).data(1, 'begun');
    expect(await client.rstCode(1)).toBe(ErrorCode.noError);
    client
      .data(1, 100)
      .headers(1, ['x-trailer', '1'])
      .send({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(1) });
    await client.roundTrip();
    expect(closedStreams).toEqual([1]);
    expect(requests[0]!.body!.destroyed).toBe(true);
    expect(client.frames.filter(({ type }) => type === FrameType.rstStream)).toHaveLength(1);
  });
});

describe('ServerStream request', () => {
  it('has no body if HEADERS has END_STREAM', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, GET);
    await until(() => requests.length === 1);
    expect(requests[0]).toMatchObject({ method: 'GET', target: '/', headers: ['host', 'server'], body: null });
  });

  it('passes its body as DATA arrives, then ends', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, [...POST, 'content-length', '6'], { endStream: false });
    await until(() => requests.length === 1);
    const seen = collect(requests[0]!);
    client.data(1, 'abc');
    await until(() => seen.text === 'abc');
    client.data(1, 'def', { endStream: true });
    await until(() => seen.ended);
    expect(seen.text).toBe('abcdef');
  });

  it('ends at trailers, which are dropped', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: false }).data(1, 'abc').headers(1, ['x-sum', '1']);
    await until(() => requests.length === 1);
    const seen = collect(requests[0]!);
    await until(() => seen.ended);
    expect(seen.text).toBe('abc');
    expect(requests[0]!.headers).not.toContain('x-sum');
  });

  it.each<[string, (client: Awaited<ReturnType<typeof startConnection>>['client']) => void, number]>([
    ['DATA above Content-Length', (c) => c.data(1, 'abcdefg'), ErrorCode.protocolError],
    ['END_STREAM below Content-Length', (c) => c.data(1, 'abc', { endStream: true }), ErrorCode.protocolError],
    ['trailers below Content-Length', (c) => c.data(1, 'abc').headers(1, ['x', 'y']), ErrorCode.protocolError],
    ['trailers without END_STREAM', (c) => c.headers(1, ['x', 'y'], { endStream: false }), ErrorCode.protocolError],
    ['a pseudo-header in its trailers', (c) => c.data(1, 'abcdef').headers(1, [':path', '/']), ErrorCode.protocolError],
    ['an upper-case name in its trailers', (c) => c.data(1, 'abcdef').headers(1, ['X', 'y']), ErrorCode.protocolError],
    [
      'WINDOW_UPDATE with an increment of 0',
      (c) => c.send({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(0) }),
      ErrorCode.protocolError,
    ],
    [
      'WINDOW_UPDATE above 2^31-1',
      (c) => c.send({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(2 ** 31 - 1) }),
      ErrorCode.flowControlError,
    ],
    [
      'PRIORITY of 4 bytes',
      (c) => c.send({ type: FrameType.priority, streamId: 1, payload: Buffer.alloc(4) }),
      ErrorCode.frameSizeError,
    ],
  ])('is reset after %s, fails its reader, and leaves the connection open', async (_, send, code) => {
    const { client, requests, closedStreams } = await startConnection();
    client.greet().headers(1, [...POST, 'content-length', '6'], { endStream: false });
    await until(() => requests.length === 1);
    const seen = collect(requests[0]!);
    send(client);
    expect(await client.rstCode(1)).toBe(code);
    await until(() => seen.error !== undefined);
    expect(seen.ended).toBe(false);
    expect(closedStreams).toEqual([1]);
    await client.roundTrip();
  });

  it.each([
    ['END_STREAM', [Flag.endStream]],
    ['RST_STREAM', [0]],
  ])('answers DATA after %s with RST_STREAM STREAM_CLOSED', async (_, [flags]) => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: flags === Flag.endStream });
    if (flags === 0) client.send({ type: FrameType.rstStream, streamId: 1, payload: uint32(ErrorCode.cancel) });
    client.data(1, 'more');
    expect(await client.rstCode(1)).toBe(ErrorCode.streamClosed);
    expect(requests).toHaveLength(1);
    await client.roundTrip();
  });

  it('answers HEADERS on a closed stream with GOAWAY STREAM_CLOSED', async () => {
    const { client } = await startConnection((stream) => stream.respond(200, [], null));
    client.greet().headers(1, GET);
    await client.status(1);
    await client.roundTrip();
    client.headers(1, GET);
    expect(await client.goawayCode()).toBe(ErrorCode.streamClosed);
  });

  it('is reset if it has Content-Length above 0 and no body', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, [...POST, 'content-length', '6']);
    expect(await client.rstCode(1)).toBe(ErrorCode.protocolError);
    expect(requests).toEqual([]);
  });

  it('closes once and fails its reader when the client sends RST_STREAM', async () => {
    const { client, requests, closedStreams } = await startConnection();
    client.greet().headers(1, POST, { endStream: false });
    await until(() => requests.length === 1);
    const seen = collect(requests[0]!);
    const reset = { type: FrameType.rstStream, streamId: 1, payload: uint32(ErrorCode.cancel) };
    client.send(reset, reset);
    await client.roundTrip();
    expect(closedStreams).toEqual([1]);
    await until(() => seen.error !== undefined);
    expect(requests[0]!.write(Buffer.alloc(1e6))).toBe(true);
  });

  it('sends RST_STREAM once if its reader resets it while reading the last DATA', async () => {
    const { client, requests, closedStreams } = await startConnection();
    client.greet().headers(1, [...POST, 'content-length', '6000'], { endStream: false });
    await until(() => requests.length === 1);
    requests[0]!.body!.on('data', () => requests[0]!.reset(ErrorCode.cancel));
    await settle();
    client.data(1, 5_000, { endStream: true });
    expect(await client.rstCode(1)).toBe(ErrorCode.cancel);
    await client.roundTrip();
    expect(client.frames.filter(({ type }) => type === FrameType.rstStream)).toHaveLength(1);
    expect(closedStreams).toEqual([1]);
  });

  it('can still be answered after its reader destroyed the body', async () => {
    const { client, requests } = await startConnection();
    client.greet().headers(1, POST, { endStream: false }).data(1, 'abc');
    await until(() => requests.length === 1);
    requests[0]!.body!.destroy(new Error('the attempt failed'));
    await settle();
    client.data(1, 'def', { endStream: true });
    await client.roundTrip();
    requests[0]!.respond(200, [], Buffer.from('ok'));
    expect(await client.status(1)).toBe('200');
    await client.roundTrip();
    expect(client.frames.filter(({ type }) => type === FrameType.rstStream)).toEqual([]);
  });
});

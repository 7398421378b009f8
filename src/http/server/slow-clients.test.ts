import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import type { Exchange, Handler, Reply } from '../exchange.js';
import { block, frameBytes, settingsPayload, uint32 } from '../http2/frame-client.fixture.js';
import { Flag, FrameType, PREFACE } from '../http2/protocol.js';
import { PIPELINED_REQUESTS_MAX } from './http1-pipeline.js';
import {
  ask1,
  type Http2By,
  rawConnection,
  rawExchange,
  type StartedListener,
  serverCa,
  startListener,
  streamed,
  text,
} from './listener.fixture.js';
import type { ListenerLimits } from './listener.js';

let running: StartedListener | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(handler: Handler, limits: Partial<ListenerLimits> = {}, by: Http2By = 'own'): Promise<number> {
  running = await startListener(handler, limits, by);
  return running.port;
}

/** Progress timeout: long enough for a loaded machine, short enough for a test. */
const PROGRESS_MS = 400;
const MEGABYTE = 1024 * 1024;

const large = async (): Promise<Reply> => text('x'.repeat(4 * MEGABYTE));
const readsBody: Handler = async ({ body }) => {
  for await (const _ of body ?? []);
  return text('done');
};

interface Http2Client {
  readonly socket: TLSSocket;
  readonly closed: Promise<void>;
  receivedBytes(): number;
}

/** Opens an HTTP/2 connection for raw frames; `windowBytes` is its SETTINGS_INITIAL_WINDOW_SIZE. */
async function rawHttp2(port: number, windowBytes: number): Promise<Http2Client> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: serverCa.pem, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  socket.write(PREFACE);
  socket.write(frameBytes({ type: FrameType.settings, payload: settingsPayload([4, windowBytes]) }));
  return { socket, closed, receivedBytes: () => bytes };
}

function get(streamId: number): Buffer {
  const payload = block(':method', 'GET', ':scheme', 'https', ':path', '/', ':authority', 'x');
  return frameBytes({ type: FrameType.headers, flags: Flag.endHeaders | Flag.endStream, streamId, payload });
}

describe('Listener progress timeout', () => {
  it('closes the HTTP/1.1 connection of a client that sends a body byte by byte', async () => {
    const port = await start(readsBody, { progressMs: PROGRESS_MS });
    const { socket, closed } = await rawConnection(port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    const dribble = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(dribble);
  });

  it('closes the HTTP/1.1 connection of a client that continues a slow body after the reply', async () => {
    const port = await start(async () => text('not wanted', 401), { progressMs: PROGRESS_MS });
    const { socket, closed, received } = await rawConnection(port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    await until(() => received().includes('not wanted'), 'the reply');
    const dribble = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(dribble);
  }, 20_000);

  it('closes the HTTP/1.1 connection of a client that does not read a large reply', async () => {
    const port = await start(async () => text('x'.repeat(32 * MEGABYTE)), { progressMs: PROGRESS_MS });
    const { socket } = await rawConnection(port);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => running!.listener.connectionCount === 0, 'the connection to close');
    socket.destroy();
  });

  it.each(['own', 'node'] as const)(
    'closes the HTTP/2 connection of a client with a flow-control window of 0 (http2: %s)',
    async (by) => {
      const port = await start(large, { progressMs: PROGRESS_MS }, by);
      const { socket, closed } = await rawHttp2(port, 0);
      socket.write(get(1));
      await closed;
    },
  );

  it('closes the HTTP/2 connection of a client that opens its flow-control window byte by byte', async () => {
    const port = await start(large, { progressMs: PROGRESS_MS });
    const { socket, closed } = await rawHttp2(port, 0);
    socket.write(get(1));
    const dribble = setInterval(
      () => socket.write(frameBytes({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(1) })),
      20,
    );
    await closed;
    clearInterval(dribble);
  });

  it('closes the HTTP/2 connection of a client that does not read its socket', async () => {
    const port = await start(large, { progressMs: PROGRESS_MS, streamsPerConnectionMax: 50 });
    const { socket } = await rawHttp2(port, 2 ** 31 - 1);
    socket.write(frameBytes({ type: FrameType.windowUpdate, payload: uint32(2 ** 30) }));
    socket.pause();
    for (let id = 1; id < 60; id += 2) socket.write(get(id));
    // Thirty replies of a large body are prepared first, which takes seconds on a busy machine.
    await until(() => running!.listener.connectionCount === 0, 'the connection to close', 15_000);
    socket.destroy();
  });

  it('resets only the stalled stream while another stream of the connection makes progress', async () => {
    const watch = streamed();
    const port = await start(async ({ target }) => (target === '/watch' ? watch.reply : large()), {
      progressMs: PROGRESS_MS,
    });
    const { socket, receivedBytes } = await rawHttp2(port, 0);
    const payload = block(':method', 'GET', ':scheme', 'https', ':path', '/watch', ':authority', 'x');
    socket.write(
      frameBytes({ type: FrameType.headers, flags: Flag.endHeaders | Flag.endStream, streamId: 1, payload }),
    );
    socket.write(frameBytes({ type: FrameType.windowUpdate, streamId: 1, payload: uint32(1_000_000) }));
    socket.write(get(3));
    const ticking = setInterval(() => watch.body.push(Buffer.from('{}\n')), 20);
    await until(() => receivedBytes() > 0, 'the heads');
    await new Promise((resolve) => setTimeout(resolve, 3 * PROGRESS_MS));
    const before = receivedBytes();
    await until(() => receivedBytes() > before, 'events after the stalled stream was reset');
    clearInterval(ticking);
    socket.destroy();
  });

  it('keeps the connection of a client that reads a reply slowly to its end', async () => {
    const port = await start(large, { progressMs: PROGRESS_MS });
    const { socket, received, closed } = await rawConnection(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const slow = setInterval(() => {
      socket.resume();
      setImmediate(() => socket.pause());
    }, 10);
    await until(() => received().length > 4 * MEGABYTE, 'the whole reply', 30_000);
    clearInterval(slow);
    socket.resume();
    await closed;
  }, 40_000);

  it('does not apply while the client waits for a slow handler', async () => {
    let answer: ((reply: Reply) => void) | undefined;
    const port = await start(() => new Promise((resolve) => (answer = resolve)), { progressMs: 50 });
    const asked = ask1(port, { method: 'POST', body: 'small' });
    await until(() => answer !== undefined, 'the request');
    await new Promise((resolve) => setTimeout(resolve, 300));
    answer!(text('late'));
    expect((await asked).body.toString()).toBe('late');
  });
});

describe('Listener with pipelined HTTP/1.1 requests', () => {
  it('starts them one at a time: only one reply waits for a client that does not read', async () => {
    let begun = 0;
    const port = await start(
      async () => {
        begun += 1;
        return text('x'.repeat(32 * MEGABYTE));
      },
      { progressMs: 60_000 },
    );
    const { socket } = await rawConnection(port);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await until(() => begun === 1, 'the first request');
    await settle(50);
    expect(begun).toBe(1);
    socket.destroy();
  });

  it('replies to them in order', async () => {
    const port = await start(async ({ target }) => text(target));
    const requests = [1, 2, 3].map(
      (i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n${i === 3 ? 'Connection: close\r\n' : ''}\r\n`,
    );
    const received = await rawExchange(port, requests.join(''));
    expect([...received.matchAll(/\r\n\r\n(\/\d)/g)].map(([, target]) => target)).toEqual(['/1', '/2', '/3']);
  });

  it('closes the connection when more than PIPELINED_REQUESTS_MAX wait', async () => {
    const port = await start(() => new Promise(() => {}));
    const { socket, closed } = await rawConnection(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED_REQUESTS_MAX + 2));
    await closed;
  });

  it.each([
    ['a waiting head has more lines than headersCountMax', `X: 1\r\n`.repeat(101), 1],
    ['the waiting heads have too many lines together', `X: 1\r\n`.repeat(95), 6],
  ])('closes the connection when %s', async (_, lines, waiting) => {
    const port = await start(() => new Promise(() => {}), { headerBytesMax: 16 * 1024, headersCountMax: 100 });
    const { socket, closed } = await rawConnection(port);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${`GET / HTTP/1.1\r\nHost: x\r\n${lines}\r\n`.repeat(waiting)}`);
    await closed;
  });

  it('lets one head with as many lines and bytes as allowed wait', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const handler: Handler = () => new Promise((resolve) => answers.push(resolve));
    const port = await start(handler, { headerBytesMax: 16 * 1024, headersCountMax: 100 });
    const { socket, received } = await rawConnection(port);
    const line = `X: ${'x'.repeat(150)}\r\n`;
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n${line.repeat(99)}\r\n`);
    await until(() => answers.length === 1, 'the first request');
    answers[0]!(text('first'));
    await until(() => answers.length === 2, 'the waiting request');
    answers[1]!(text('second'));
    await until(() => received().includes('second'), 'the second reply');
    socket.destroy();
  });

  it('closes the connection when the waiting heads exceed headerBytesMax', async () => {
    const port = await start(() => new Promise(() => {}), { headerBytesMax: 16 * 1024 });
    const { socket, closed } = await rawConnection(port);
    const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(12 * 1024)}\r\n\r\n`;
    socket.write(large.repeat(3));
    await closed;
  });

  it('writes no error reply into the middle of an earlier reply', async () => {
    const reply = streamed(200, ['Content-Length', '10']);
    const port = await start(async ({ target }) => (target === '/first' ? reply.reply : text('second')));
    const { socket, received, closed } = await rawConnection(port);
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => received().includes('200 OK'), 'the head of the first reply');
    reply.body.push(Buffer.from('abc'));
    socket.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n');
    await closed;
    expect(received()).not.toContain('400');
  });
});

describe('Listener on ambiguous HTTP/1.1 requests', () => {
  const refused = (received: string) => expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*"reason":"BadRequest"/);

  it.each([
    ['two Host fields', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['two equal Host fields', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    [
      'a Transfer-Encoding other than chunked',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'an upgrade with a chunked body',
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'an upgrade with Content-Length',
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 3\r\n\r\nabc',
    ],
  ])('replies 400 to %s', async (_, bytes) => {
    let seen: Exchange | undefined;
    const port = await start(async (exchange) => {
      seen = exchange;
      return text('');
    });
    refused(await rawExchange(port, bytes));
    expect(seen).toBeUndefined();
  });

  it('serves Transfer-Encoding: Chunked in any case, and an upgrade with Content-Length: 0', async () => {
    const port = await start(readsBody);
    const chunked =
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n';
    expect(await rawExchange(port, chunked)).toMatch(/^HTTP\/1\.1 200 /);
    const upgrade =
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n';
    expect(await rawExchange(port, upgrade)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('Listener at its connection limit', () => {
  const authenticated: Handler = async ({ connection }) => {
    connection.authenticated = true;
    return text('hello');
  };
  const ask = async (client: Awaited<ReturnType<typeof rawConnection>>) => {
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => client.received().includes('hello'), 'a reply');
  };

  it('closes the oldest connection without an authenticated request for a new one', async () => {
    const port = await start(authenticated, { connectionsMax: 3, connectionsPerAddressMax: 3 });
    const known = await rawConnection(port);
    await ask(known);
    const idle = [await rawConnection(port), await rawConnection(port)];
    const newcomer = await rawConnection(port);
    await idle[0]!.closed;
    await ask(newcomer);
    await ask(known);
    expect(idle[1]!.socket.destroyed).toBe(false);
    for (const { socket } of [known, newcomer, idle[1]!]) socket.destroy();
  });

  it('refuses a new connection if all others are authenticated', async () => {
    const port = await start(authenticated, { connectionsMax: 1 });
    const known = await rawConnection(port);
    await ask(known);
    await expect(rawConnection(port)).rejects.toThrow();
    await ask(known);
    known.socket.destroy();
  });

  it('at the limit of one address closes only connections of that address', async () => {
    const port = await start(authenticated, { connectionsMax: 4, connectionsPerAddressMax: 2 });
    const other = await rawConnection(port, '127.0.0.2');
    const flood: Awaited<ReturnType<typeof rawConnection>>[] = [];
    for (let i = 0; i < 6; i++) flood.push(await rawConnection(port));
    await Promise.all(flood.slice(0, 4).map(({ closed }) => closed));
    expect(other.socket.destroyed).toBe(false);
    await ask(other);
    for (const { socket } of [other, ...flood]) socket.destroy();
  });
});

import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { until } from '../../base/manual-clock.fixture.js';
import { StatusError } from '../../kube/status-error.js';
import { errorsFilter } from '../../proxy/chain/errors-filter.js';
import { limitsFilter } from '../../proxy/chain/limits-filter.js';
import { chain, type Handler } from '../exchange.js';
import { FairLimiter } from '../fair-limiter.js';
import { gatherSmallBody } from '../gather-body.js';
import {
  rawConnection,
  recordingLogger,
  type StartedListener,
  serverCa,
  session2,
  startListener,
  streamed,
  text,
} from './listener.fixture.js';
import type { ListenerLimits } from './listener.js';

const limiter = (heldMax: number) => new FairLimiter({ heldMax, queueMax: 10, waitMsMax: 1_000, clock: systemClock });

let running: StartedListener | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Starts a listener with the limits filter; `held` returns what its requests hold now. */
async function start(handler: Handler, limits: Partial<ListenerLimits> = {}) {
  const shared = {
    places: limiter(1_000),
    peerPlaces: limiter(1_000),
    longRunning: limiter(1_000),
    memory: limiter(1024 * 1024),
  };
  const filter = limitsFilter({
    ...shared,
    usualHead: { headerBytesMax: 16 * 1024, headersCountMax: 100 },
    isFromPeerStraddle: () => false,
    judge: () => false,
  });
  running = await startListener(chain([errorsFilter(recordingLogger([])), filter], handler), limits);
  const held = () => ({
    places: shared.places.stats.held,
    longRunning: shared.longRunning.stats.held,
    memory: shared.memory.stats.held,
    queued: shared.places.stats.queued,
  });
  return { port: running.port, listener: running.listener, held };
}

/** Returns the two ends of a connection in memory. */
function duplexPair(): [Duplex, Duplex] {
  const end = (other: () => Duplex): Duplex =>
    new Duplex({
      read() {},
      write(chunk, _, done) {
        other().push(chunk);
        done();
      },
      final(done) {
        other().push(null);
        done();
      },
    });
  const near: Duplex = end(() => far);
  const far: Duplex = end(() => near);
  return [near, far];
}

const NOTHING = { places: 0, longRunning: 0, memory: 0, queued: 0 };
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('Listener with the limits filter', () => {
  it('does not start a pipelined request after a reply that closes the connection', async () => {
    const served: string[] = [];
    const { port, held } = await start(async ({ target }) => {
      served.push(target);
      return text('served');
    });
    const { socket, closed, received } = await rawConnection(port);
    const tooManyFields = 'X-Field: 1\r\n'.repeat(101);
    socket.write(`GET /first HTTP/1.1\r\nHost: x\r\n${tooManyFields}\r\n${GET}`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 431 /);
    await until(() => running!.listener.connectionCount === 0, 'the connection to close');
    expect(served).toEqual([]);
    expect(held()).toEqual(NOTHING);
  });

  it('does not wait at shutdown for pipelined requests that cannot be answered', async () => {
    let answer = (): void => {};
    const begun = { count: 0 };
    const { port, listener, held } = await start(async () => {
      begun.count += 1;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return text('served');
    });
    const { socket, closed } = await rawConnection(port);
    socket.write(GET + GET);
    await until(() => begun.count === 1, 'the first request');
    const shutDown = listener.close(500);
    answer();
    await closed;
    await shutDown;
    expect(held()).toEqual(NOTHING);
  });

  it.each([
    ['keeps the connection open', ''],
    ['sends more bytes and keeps the connection open', 'more'],
  ])('releases the limits after a refused upgrade when the client %s', async (_, more) => {
    const { port, held } = await start(async () => text('no', 403));
    const halfOpen: ConnectionOptions & TcpNetConnectOpts = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = connectTls({ ...halfOpen, ca: serverCa.pem });
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await until(() => received.includes('403'), 'the refusal');
    if (more !== '') socket.write(more);
    await until(() => running!.listener.connectionCount === 0, 'the connection to close');
    socket.destroy();
    expect(held()).toEqual(NOTHING);
  });

  it('releases the limits after HTTP/1.1 requests of every kind that end in every way', async () => {
    const { port, held } = await start(
      async (exchange) => {
        const { body, method, info, upgrade } = exchange;
        if (exchange.target === '/throw') throw new StatusError('NotFound', 'not here');
        if (exchange.target === '/late') await new Promise<void>((resolve) => void exchange.onAbort(resolve));
        if (upgrade) {
          const [near, far] = duplexPair();
          far.on('data', () => far.end('bye'));
          return { status: 101, headers: [], body: null, upgraded: { socket: near, head: Buffer.alloc(0) } };
        }
        if (info.verb === 'watch') return streamed().reply;
        if (body && method === 'POST') await gatherSmallBody(exchange);
        return exchange.target === '/large' ? text('x'.repeat(4 * 1024 * 1024)) : text('done');
      },
      { progressMs: 400 },
    );
    const head = (method: string, target: string, fields = '') =>
      `${method} ${target} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
    const body = 'Content-Length: 10\r\n';
    const switching = 'Connection: Upgrade\r\nUpgrade: x\r\n';
    const requests = [
      GET,
      head('HEAD', '/large'),
      head('GET', '/throw'),
      head('GET', '/late'),
      head('GET', '/large'),
      head('GET', '/api/v1/pods?watch=1'),
      head('POST', '/', body),
      `${head('POST', '/', body)}0123456789`,
      head('POST', '/', `${body}Expect: 100-continue\r\n`),
      `${head('POST', '/', 'Transfer-Encoding: chunked\r\n')}5\r\nabc`,
      `${head('PUT', '/', 'Content-Length: 1000000\r\n')}abc`,
      head('GET', '/', switching),
      `${head('GET', '/', switching)}hello`,
      head('GET', '/', `${switching}Content-Length: 3\r\n`),
      head('GET', '/', 'X-Field: 1\r\n'.repeat(101)),
      'nonsense\r\n\r\n',
      'GET / HTTP/1.1\r\nHo',
    ];
    const leave: ((socket: TLSSocket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.end(),
      (socket) => void setImmediate(() => socket.destroy()),
      (socket) => void socket.pause(),
    ];
    const sockets: TLSSocket[] = [];
    for (const first of requests) {
      for (const second of ['', GET, head('GET', '/late')]) {
        await Promise.all(
          leave.map(async (how) => {
            const { socket } = await rawConnection(port);
            sockets.push(socket);
            socket.write(first + second);
            how(socket);
          }),
        );
      }
    }
    for (const socket of sockets) socket.destroy();
    await until(() => running!.listener.connectionCount === 0, 'all connections to close');
    await until(
      () => held().places + held().longRunning + held().memory + held().queued === 0,
      'the limits to be released',
    );
    expect(held()).toEqual(NOTHING);
  }, 60_000);

  it('releases the limits after HTTP/2 requests of every kind that end in every way', async () => {
    const { port, held } = await start(async (exchange) => {
      if (exchange.target === '/throw') throw new StatusError('NotFound', 'not here');
      if (exchange.target === '/late') await new Promise<void>((resolve) => void exchange.onAbort(resolve));
      if (exchange.info.verb === 'watch') return streamed().reply;
      await gatherSmallBody(exchange);
      return exchange.target === '/large' ? text('x'.repeat(4 * 1024 * 1024)) : text('done');
    });
    const leave: ((session: ClientHttp2Session, stream: ClientHttp2Stream) => void)[] = [
      (session) => session.destroy(),
      (_, stream) => stream.close(8),
      (session) => session.close(),
      (_, stream) => void setImmediate(() => stream.close(8)),
    ];
    const sessions: ClientHttp2Session[] = [];
    for (const path of ['/', '/throw', '/late', '/large', '/api/v1/pods?watch=1']) {
      for (const headers of [{}, { ':method': 'HEAD' }, { ':method': 'POST', 'content-length': '10' }]) {
        for (const how of leave) {
          const session = session2(port);
          sessions.push(session);
          const stream = session.request({ ':path': path, ...headers }, { endStream: !('content-length' in headers) });
          stream.on('error', () => {});
          await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
          how(session, stream);
        }
      }
    }
    for (const session of sessions) session.destroy();
    await until(() => running!.listener.connectionCount === 0, 'all connections to close');
    await until(
      () => held().places + held().longRunning + held().memory + held().queued === 0,
      'the limits to be released',
    );
    expect(held()).toEqual(NOTHING);
  }, 60_000);
});

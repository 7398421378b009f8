import type { TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../core/clock.js';
import { chain, type Handler } from '../core/exchange.js';
import { FairLimiter } from '../core/fair-limiter.js';
import { until } from '../core/manual-clock.fixture.js';
import { limitsFilter } from '../filters/limits.js';
import { rawConnection, type StartedListener, serverCa, startListener, text } from './listener.fixture.js';
import type { ListenerLimits } from './listener.js';

const limiter = (heldMax: number) => new FairLimiter({ heldMax, queueMax: 10, waitMsMax: 1_000, clock: systemClock });

let running: StartedListener | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** A listener behind the limits filter, and how much its requests hold at the moment. */
async function start(handler: Handler, limits: Partial<ListenerLimits> = {}) {
  const shared = {
    places: limiter(100),
    peerPlaces: limiter(100),
    longRunning: limiter(100),
    memory: limiter(1024 * 1024),
  };
  const filter = limitsFilter({ ...shared, isPeersOwn: () => false, judge: () => false });
  running = await startListener(chain([filter], handler), limits);
  const held = () => ({
    places: shared.places.stats.held,
    longRunning: shared.longRunning.stats.held,
    memory: shared.memory.stats.held,
    queued: shared.places.stats.queued,
  });
  return { port: running.port, listener: running.listener, held };
}

const NOTHING = { places: 0, longRunning: 0, memory: 0, queued: 0 };
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('what a request holds', () => {
  it('does not begin a pipelined request behind a reply that closes the connection', async () => {
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
    await until(() => running!.listener.connectionCount === 0, 'the end of the connection');
    expect(served).toEqual([]);
    expect(held()).toEqual(NOTHING);
  });

  it('does not keep a shutdown waiting for pipelined requests that cannot be answered', async () => {
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
    ['stays', ''],
    ['sends more and stays', 'more'],
  ])('is given back after a refused upgrade when the client %s', async (_, more) => {
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
    await until(() => running!.listener.connectionCount === 0, 'the end of the connection');
    socket.destroy();
    expect(held()).toEqual(NOTHING);
  });
});

import { PassThrough, Readable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { StatusError } from '../../kube/status-error.js';
import type { Reply } from '../exchange.js';
import { outgoing, type ScriptedServer, serveScript, textOf, tls } from '../tls/tls-server.fixture.js';
import { ConnectionPool } from './connection-pool.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { Dialler } from './dialler.js';
import { Http1Attempt } from './http1-attempt.js';
import type { Http1Connection } from './http1-connection.js';

let server: ScriptedServer;
let sweep: DeadlineSweep<Http1Connection>;

afterEach(async () => {
  for (const connection of [...sweep.members]) await connection.destroy('over');
  await server.close();
});

async function start(keepAliveMs = 10_000): Promise<ConnectionPool> {
  server = await serveScript((socket, received) => {
    if (/ \/hang (?!.* \/)/s.test(received)) return;
    if (received.includes(' /pause ')) return void socket.pause();
    if (received.includes('content-length: 8') && !received.endsWith('end')) return;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${server.sockets.indexOf(socket)}`);
  });
  sweep = new DeadlineSweep();
  const dialler = new Dialler({
    address: server.address,
    tls,
    timeoutMs: 3_000,
    protocols: ['http/1.1'],
    reach: undefined,
  });
  return new ConnectionPool({ dialler, keepAliveMs, sweep });
}

function send(pool: ConnectionPool, target = '/', more: Parameters<typeof outgoing>[0] = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const events = { resolve, reject, onOver: () => {} };
    const attempt = new Http1Attempt(server.address, outgoing({ target, ...more }).request, events);
    attempt.listen();
    pool.send(attempt);
  });
}

const ask = async (pool: ConnectionPool) => textOf(await send(pool));

it('ConnectionPool takes the most recently used connection first', async () => {
  const pool = await start();
  const [first, second] = [send(pool), send(pool)];
  await Promise.all([first, second]);
  const last = await ask(pool);
  for (let i = 0; i < 5; i++) expect(await ask(pool)).toBe(last);
  expect(server.sockets).toHaveLength(2);
});

it('ConnectionPool forgets connections that the server closed', async () => {
  const pool = await start();
  await Promise.all([send(pool), send(pool)]);
  expect(sweep.members.size).toBe(2);
  for (const socket of server.sockets) socket.destroy();
  await until(() => sweep.members.size === 0, 'both connections to be forgotten');
  expect(await ask(pool)).toBe('2');
});

it('ConnectionPool closes idle connections after keepAliveMs', async () => {
  const pool = await start(20);
  await Promise.all([send(pool), send(pool), send(pool)]);
  await until(() => sweep.members.size === 0 && server.connections.size === 0, 'all connections to be closed');
});

it('ConnectionPool.close closes idle connections at once and busy ones after their reply', async () => {
  const pool = await start();
  await Promise.all([send(pool), send(pool)]);
  const hanging = send(pool, '/hang');
  await until(() => server.received().includes('/hang'), 'request');
  pool.close();
  await until(() => server.connections.size === 1, 'the idle connection to be closed');
  for (const socket of server.sockets) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  expect(await textOf(await hanging)).toBe('ok');
  await until(() => server.connections.size === 0, 'the busy connection to be closed');
  expect(sweep.members.size).toBe(0);
});

const anHour = 3_600_000;

it('ConnectionPool applies headTimeoutMs to the response head and no timeout to the body', async () => {
  const pool = await start();
  const sent = send(pool, '/hang', { headTimeoutMs: anHour });
  await until(() => server.received().includes('/hang'), 'request');
  const [connection] = sweep.members;
  expect(connection!.deadlineAt).toBeLessThanOrEqual(performance.now() + anHour);
  server.sockets[0]!.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nb');
  const reply = await sent;
  expect(connection!.deadlineAt).toBe(Number.POSITIVE_INFINITY);
  server.sockets[0]!.write('ody');
  expect(await textOf(reply)).toBe('body');
});

it('ConnectionPool does not time out a request whose body is sent slowly', async () => {
  const pool = await start();
  const body = new PassThrough();
  const headers = ['Host', 'x', 'Content-Length', '8'];
  const sent = send(pool, '/', { method: 'POST', body, headers, headTimeoutMs: anHour });
  for (const letter of 'begin') {
    body.write(letter);
    await until(() => server.received().endsWith(letter), letter);
    for (const connection of sweep.members) connection.expire();
  }
  body.end('end');
  expect(await textOf(await sent)).toBe('0');
});

it.each(['', 'begin'])(
  'ConnectionPool fails a request whose body stops after "%s" with Timeout, not as a fault of the server',
  async (begun) => {
    const pool = await start();
    const body = new PassThrough();
    const sent = send(pool, '/', { method: 'POST', body, headTimeoutMs: anHour }).catch((error) => error);
    if (begun !== '') {
      body.write(begun);
      await until(() => server.received().includes(begun), 'first bytes');
      for (const connection of sweep.members) connection.expire();
    } else await until(() => [...sweep.members].some(({ deadlineAt }) => Number.isFinite(deadlineAt)), 'connection');
    for (const connection of [...sweep.members]) connection.expire();
    expect(await sent).toBeInstanceOf(StatusError);
    expect(await sent).toMatchObject({ status: { reason: 'Timeout' } });
    expect(body.destroyed).toBe(true);
    expect(sweep.members.size).toBe(0);
  },
);

it('ConnectionPool times out a request whose body the server stops reading', async () => {
  const pool = await start();
  const body = new Readable({ read: () => body.push(Buffer.alloc(64 * 1024)) });
  const sent = send(pool, '/pause', { method: 'POST', body, headTimeoutMs: anHour }).catch((error) => error);
  await until(() => server.received().includes('/pause'), 'first bytes');
  let outcome: unknown;
  sent.then((it) => {
    outcome = it;
  });
  // Until the socket buffers are full, bytes still move and the request is not stalled.
  await until(() => {
    for (const connection of [...sweep.members]) connection.expire();
    return outcome !== undefined;
  }, 'the request to time out');
  expect(outcome).toMatchObject({ processed: 'maybe', type: 'timeout' });
});

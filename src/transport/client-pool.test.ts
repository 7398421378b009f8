import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Client } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { ClientPool } from './client-pool.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function start() {
  const sockets = new Set<Socket>();
  server = createServer((_, response) => response.end('ok'));
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { sockets, pool: new ClientPool(() => new Client(origin, { pipelining: 1 })) };
}

async function ask(client: Client): Promise<string> {
  const { body } = await client.request({ path: '/', method: 'GET' });
  return body.text();
}

it('uses a connection again after a whole answer, the last one first', async () => {
  const { pool, sockets } = await start();
  const [one, two] = [pool.take(), pool.take()];
  expect(one).not.toBe(two);
  await ask(one);
  await ask(two);
  pool.giveBack(one, true);
  pool.giveBack(two, true);
  expect(pool.take()).toBe(two);
  expect(pool.take()).toBe(one);
  await ask(one);
  expect(sockets.size).toBe(2);
  await pool.destroy(new Error('over'));
});

it('does not use one again whose answer was not whole', async () => {
  const { pool } = await start();
  const client = pool.take();
  await ask(client);
  pool.giveBack(client, false);
  expect(pool.take()).not.toBe(client);
  expect(client.closed).toBe(true);
  await pool.destroy(new Error('over'));
});

it('forgets a free one that the server closes', async () => {
  const { pool, sockets } = await start();
  const client = pool.take();
  await ask(client);
  pool.giveBack(client, true);
  const gone = new Promise((resolve) => client.once('disconnect', resolve));
  for (const socket of sockets) socket.destroy();
  await gone;
  expect(pool.take()).not.toBe(client);
  await pool.destroy(new Error('over'));
});

it('lets what is under way end when it closes, and keeps nothing after', async () => {
  const { pool } = await start();
  const [busy, free] = [pool.take(), pool.take()];
  await ask(free);
  pool.giveBack(free, true);
  pool.close();
  expect(free.closed).toBe(true);
  expect(busy.closed).toBe(false);
  expect(await ask(busy)).toBe('ok');
  pool.giveBack(busy, true);
  expect(busy.closed).toBe(true);
});

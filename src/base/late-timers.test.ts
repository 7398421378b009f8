import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DeadlineSweep } from '../http/client/deadline-sweep.js';
import { systemClock } from './clock.js';

/** Echoes from a thread of its own, so that it replies while this one is busy. */
const ECHO = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
const TIMEOUT_MS = 100;

let server: Worker;
let socket: Socket;
beforeEach(async () => {
  server = new Worker(ECHO, { eval: true });
  const [port] = (await once(server, 'message')) as [number];
  socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  await server.terminate();
});

function keepBusy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

it.each([
  ['a timeout of systemClock', (expire: () => void) => systemClock.after(TIMEOUT_MS, expire)],
  [
    'a deadline of DeadlineSweep',
    (expire: () => void) => {
      const sweep = new DeadlineSweep();
      const member = { deadlineAt: Number.POSITIVE_INFINITY, expire };
      sweep.members.add(member);
      sweep.set(member, TIMEOUT_MS);
      return () => sweep.stop();
    },
  ],
])('%s does not pass before a reply that arrived while the process was busy', async (_, start) => {
  const first = new Promise<string>((resolve) => {
    const cancel = start(() => resolve('timeout'));
    socket.once('data', () => {
      cancel();
      resolve('reply');
    });
  });
  socket.write('ping');
  await new Promise(setImmediate);
  keepBusy(20 * TIMEOUT_MS);
  expect(await first).toBe('reply');
});

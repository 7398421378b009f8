import { afterEach, expect, it } from 'vitest';
import { outgoing, serveTls, type TlsServer, textOf, tls } from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const REQUESTS = 600;
const AT_ONCE = 16;

let server: TlsServer;
let destination: PooledDestination;
afterEach(async () => {
  await destination.close();
  await server.close();
});

/** Seeded pseudo-random numbers: the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Starts a server whose responses contain the id of their request, in all sizes and framings; some
 * end early or have a stray byte.
 */
async function start(): Promise<void> {
  server = await serveTls((req, res) => {
    const [, id, size, kind] = req.url!.split('/') as [string, string, string, string];
    const text = `${id}:${'x'.repeat(Number(size))}`;
    req.resume();
    req.on('end', () => {
      if (kind === 'reset') req.socket.destroy();
      else if (kind === 'break')
        res.writeHead(200, { 'Content-Length': text.length + 1 }).write(text, () => req.socket.end());
      else if (kind === 'stray') req.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}?`);
      else if (kind === 'chunks') {
        for (const part of text.match(/.{1,5000}/g)!) res.write(part);
        res.end();
      } else if (kind === 'close') res.writeHead(200, { Connection: 'close' }).end(text);
      else res.writeHead(200, { 'Content-Length': text.length }).end(text);
    });
  });
  destination = new PooledDestination({ address: server.address, tls, connectTimeoutMs: 3_000, keepAliveMs: 10_000 });
}

it('PooledDestination returns every response to its own request while other connections break', async () => {
  await start();
  const below = numbers(7);
  const kinds = ['plain', 'plain', 'chunks', 'chunks', 'close', 'reset', 'break', 'stray'];
  const outcomes = { answered: 0, failed: 0 };
  let next = 0;
  const worker = async () => {
    while (next < REQUESTS) {
      const id = next++;
      const [size, kind] = [below(3) === 0 ? below(100_000) : below(100), kinds[below(kinds.length)]!];
      const body = below(2) === 0 ? null : Buffer.alloc(below(40_000), 'b');
      const target = `/${id}/${size}/${kind}`;
      const { request, leave } = outgoing({ method: body ? 'POST' : 'GET', target, body });
      const sent = destination.send(request).then(textOf);
      if (below(8) === 0) setImmediate(leave);
      try {
        const text = await sent;
        expect(text === `${id}:${'x'.repeat(size)}`).toBe(true);
        expect(kind).not.toMatch(/reset|break/);
        outcomes.answered++;
      } catch (error) {
        expect(error).toMatchObject({ name: 'AttemptError' });
        outcomes.failed++;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(destination.inFlight).toBe(0);
  expect(outcomes.answered).toBeGreaterThan(REQUESTS / 3);
  expect(outcomes.failed).toBeGreaterThan(REQUESTS / 10);
});

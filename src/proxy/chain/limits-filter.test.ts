import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { BodyStream } from '../../http/body-stream.js';
import { Exchange, type Handler, type Reply } from '../../http/exchange.js';
import { FairLimiter } from '../../http/fair-limiter.js';
import { gatherSmallBody } from '../../http/gather-body.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { limitsFilter } from './limits-filter.js';

function limited(next: Handler, { heldMax = 1, memoryBytesMax = 1_000_000 } = {}) {
  const queue = { queueMax: 2, queuePerGroupMax: 1, waitMsMax: 1_000, clock: new ManualClock() };
  const places = new FairLimiter({ ...queue, heldMax });
  const peerPlaces = new FairLimiter({ ...queue, heldMax: 1 });
  const longRunning = new FairLimiter({ ...queue, heldMax: 2 });
  const memory = new FairLimiter({ ...queue, heldMax: memoryBytesMax });
  const isFromPeerStraddle = ({ trustedProxy }: Exchange) => trustedProxy;
  const usualHead = { headerBytesMax: 1_024, headersCountMax: 10 };
  const shared = { places, peerPlaces, longRunning, memory };
  const filter = limitsFilter({ ...shared, usualHead, isFromPeerStraddle, judge: () => false });
  return { places, peerPlaces, longRunning, memory, handler: filter.wrap(next) };
}

const OK: Reply = { status: 200, headers: [], body: null };

it('limits filter: holds a place until the reply has been sent, or until an error', async () => {
  const answers: ((reply: Reply) => void)[] = [];
  const { places, handler } = limited(() => new Promise((resolve) => answers.push(resolve)));
  const exchange = exchangeFor('/a');
  const first = handler(exchange);
  const other = exchangeFor('/b', { identity: user('jane') });
  const second = handler(other);
  await settle();
  expect(answers).toHaveLength(1);
  expect(places.stats).toMatchObject({ held: 1, queued: 1 });
  answers[0]!(OK);
  await first;
  await settle();
  // The client has not read the reply yet.
  expect(answers).toHaveLength(1);
  exchange.end();
  await settle();
  expect(answers).toHaveLength(2);
  answers[1]!(OK);
  await second;
  other.end();
  expect(places.stats.held).toBe(0);

  const failing = limited(() => Promise.reject(new Error('no')));
  await expect(failing.handler(exchangeFor('/'))).rejects.toThrow('no');
  expect(failing.places.stats.held).toBe(0);
});

it('limits filter: counts a watch as long-running instead of in flight once its reply begins', async () => {
  const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
  const { places, longRunning, handler } = limited(async () => ({ ...OK, body }));
  const watches = ['/api/v1/pods?watch=1', '/api/v1/pods/x/log', '/api/v1/pods?watch=1'].map((path) =>
    exchangeFor(path),
  );
  await handler(watches[0]!);
  await handler(watches[1]!);
  expect(places.stats.held).toBe(0);
  expect(longRunning.stats.held).toBe(2);
  const third = handler(watches[2]!);
  await settle();
  expect(longRunning.stats.queued).toBe(1);
  watches[0]!.end();
  await third;
  watches[1]!.end();
  watches[2]!.end();
  expect(longRunning.stats.held).toBe(0);
});

it('limits filter: holds no place while a request waits for its body', async () => {
  const { places, memory, handler } = limited(async (exchange) => {
    await gatherSmallBody(exchange);
    return OK;
  });
  const body = new PassThrough();
  const slow = new Exchange(
    { ...exchangeFor('/api/v1/pods'), method: 'POST', headers: ['Content-Length', '2'], body, target: '/api/v1/pods' },
    0,
  );
  const waiting = handler(slow);
  await settle();
  expect(places.stats.held).toBe(0);
  expect(memory.stats.held).toBeGreaterThan(2);
  const other = exchangeFor('/b', { identity: user('jane') });
  await handler(other);
  other.end();
  body.end('{}');
  await waiting;
  expect(places.stats.held).toBe(1);
  slow.end();
  expect(places.stats.held).toBe(0);
  expect(memory.stats.held).toBe(0);
});

it('limits filter: has separate places for requests that peers send on their own behalf', async () => {
  const { places, peerPlaces, handler } = limited(() => new Promise(() => {}));
  void handler(exchangeFor('/'));
  const peerRequest = exchangeFor('/apis', { identity: user('system:straddle') });
  peerRequest.trustedProxy = true;
  void handler(peerRequest);
  await settle();
  expect(places.stats).toMatchObject({ held: 1, queued: 0 });
  expect(peerPlaces.stats).toMatchObject({ held: 1, queued: 0 });
});

it('limits filter: holds memory for a head above the usual bounds, and makes its body wait for more', async () => {
  const heldDuring: number[] = [];
  const { memory, handler } = limited(
    async ({ holding }) => {
      heldDuring.push(memory.stats.held);
      await holding!.reserve(5_000);
      return OK;
    },
    { heldMax: 10, memoryBytesMax: 10_000 },
  );
  const usual = exchangeFor('/', { identity: user('jane'), headers: Array.from({ length: 20 }, () => 'x'.repeat(50)) });
  const large = exchangeFor('/', { identity: user('jane'), headers: ['X-Groups', 'x'.repeat(3_000)] });
  await handler(usual);
  usual.end();
  await handler(large);
  expect(heldDuring).toEqual([0, 1 + 32 + 8 + 3_000]);
  const second = exchangeFor('/', { identity: user('jane'), headers: ['X-Groups', 'x'.repeat(1_500)] });
  const waiting = handler(second);
  await settle();
  expect(memory.stats).toMatchObject({ held: 3_041 + 5_000 + 1_541, queued: 1 });
  large.end();
  await waiting;
  second.end();
  expect(memory.stats.held).toBe(0);
});

it('limits filter: holds no memory for the head of a watch once its reply begins', async () => {
  const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
  const heldDuring: number[] = [];
  const { memory, handler } = limited(
    async () => {
      heldDuring.push(memory.stats.held);
      return { ...OK, body };
    },
    { heldMax: 10, memoryBytesMax: 5_000 },
  );
  const headers = ['X-Groups', 'x'.repeat(3_000)];
  const watches = [1, 2].map(() => exchangeFor('/api/v1/pods?watch=1', { identity: user('jane'), headers }));
  for (const watch of watches) await handler(watch);
  expect(heldDuring.every((bytes) => bytes > 3_000)).toBe(true);
  expect(memory.stats).toMatchObject({ held: 0, queued: 0 });
  for (const watch of watches) watch.end();
  expect(memory.stats.held).toBe(0);
});

it('limits filter: replies with 429 if the queue is full, and removes clients that disconnect', async () => {
  const { places, handler } = limited(() => new Promise(() => {}));
  void handler(exchangeFor('/'));
  const waiting = exchangeFor('/');
  const left = handler(waiting).catch((error: unknown) => error);
  await expect(handler(exchangeFor('/'))).rejects.toMatchObject({ status: { code: 429 }, retryAfterSeconds: 1 });
  waiting.abort();
  await left;
  expect(places.stats.queued).toBe(0);
});

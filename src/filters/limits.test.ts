import { expect, it } from 'vitest';
import type { Handler, Reply } from '../core/exchange.js';
import { FairLimiter } from '../core/fair-limiter.js';
import { ManualClock, settle } from '../core/manual-clock.fixture.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { limitsFilter } from './limits.js';

function limited(next: Handler) {
  const limiter = new FairLimiter({
    inFlightMax: 1,
    queueMax: 2,
    queuePerFlowMax: 1,
    waitMsMax: 1_000,
    clock: new ManualClock(),
  });
  return { limiter, handler: limitsFilter(limiter).wrap(next) };
}

const OK: Reply = { status: 200, headers: [], body: null };

it('holds a place from the request to the head of its answer, also when it fails', async () => {
  const answers: ((reply: Reply) => void)[] = [];
  const { limiter, handler } = limited(() => new Promise((resolve) => answers.push(resolve)));
  const first = handler(exchangeFor('/a'));
  const second = handler(exchangeFor('/b', { identity: user('jane') }));
  await settle();
  expect(answers).toHaveLength(1);
  expect(limiter.stats).toMatchObject({ inFlight: 1, queued: 1 });
  answers[0]!(OK);
  await first;
  await settle();
  expect(answers).toHaveLength(2);
  answers[1]!(OK);
  await second;
  expect(limiter.stats.inFlight).toBe(0);

  const failing = limited(() => Promise.reject(new Error('no')));
  await expect(failing.handler(exchangeFor('/'))).rejects.toThrow('no');
  expect(failing.limiter.stats.inFlight).toBe(0);
});

it('refuses with 429 beyond the queue, and forgets those who leave it', async () => {
  const { limiter, handler } = limited(() => new Promise(() => {}));
  void handler(exchangeFor('/'));
  const waiting = exchangeFor('/');
  const left = handler(waiting).catch((error: unknown) => error);
  await expect(handler(exchangeFor('/'))).rejects.toMatchObject({ status: { code: 429 }, retryAfterSeconds: 1 });
  waiting.abort();
  await left;
  expect(limiter.stats.queued).toBe(0);
});

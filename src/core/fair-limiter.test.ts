import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairLimiter, type FairLimiterOptions, type OnAbort, type Release } from './fair-limiter.js';
import { ManualClock, settle } from './manual-clock.fixture.js';

const never: OnAbort = () => () => {};

function limiter(options: Partial<FairLimiterOptions> = {}) {
  const clock = new ManualClock();
  return { clock, fair: new FairLimiter({ inFlightMax: 1, queueMax: 100, waitMsMax: 5_000, clock, ...options }) };
}

/** Something that can be aborted once, like an exchange. */
function caller() {
  const listeners = new Set<() => void>();
  const onAbort: OnAbort = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const abort = () => {
    for (const listener of [...listeners]) listener();
  };
  return { onAbort, listeners, abort };
}

describe('FairLimiter', () => {
  it('lets in at once while places are free, without a promise', () => {
    const { fair } = limiter({ inFlightMax: 2 });
    const first = fair.acquire('a', never);
    const second = fair.acquire('a', never);
    expect(typeof first).toBe('function');
    expect(typeof second).toBe('function');
    expect(fair.acquire('a', never)).toBeInstanceOf(Promise);
    expect(fair.stats).toEqual({ inFlight: 2, queued: 1, flows: 1 });
  });

  it('gives a place back only once', () => {
    const { fair } = limiter({ inFlightMax: 2 });
    const release = fair.acquire('a', never) as Release;
    fair.acquire('a', never);
    release();
    release();
    expect(fair.stats.inFlight).toBe(1);
  });

  it('takes turns between flows, however many of one are waiting', async () => {
    const { fair } = limiter();
    let release = fair.acquire('noisy', never) as Release;
    const served: string[] = [];
    const wait = (flow: string) =>
      void (fair.acquire(flow, never) as Promise<Release>).then((next) => {
        served.push(flow);
        release = next;
      });
    for (let i = 0; i < 20; i++) wait('noisy');
    for (const flow of ['b', 'c', 'b']) wait(flow);
    for (let i = 0; i < 6; i++) {
      release();
      await settle(1);
    }
    expect(served).toEqual(['noisy', 'b', 'c', 'noisy', 'b', 'noisy']);
  });

  it('keeps the order within a flow', async () => {
    const { fair } = limiter();
    let release = fair.acquire('a', never) as Release;
    const served: number[] = [];
    for (let i = 0; i < 5; i++) {
      void (fair.acquire('a', never) as Promise<Release>).then((next) => {
        served.push(i);
        release = next;
      });
    }
    for (let i = 0; i < 5; i++) {
      release();
      await settle(1);
    }
    expect(served).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses with 429 and Retry-After beyond the queue of one flow, and still queues another', () => {
    const { fair } = limiter({ queuePerFlowMax: 2 });
    fair.acquire('a', never);
    void fair.acquire('a', never);
    void fair.acquire('a', never);
    expect(() => fair.acquire('a', never)).toThrow(
      expect.objectContaining({ retryAfterSeconds: 1, status: expect.objectContaining({ code: 429 }) }),
    );
    expect(fair.acquire('b', never)).toBeInstanceOf(Promise);
  });

  it('makes room in a full queue at the expense of the longest flow', async () => {
    const { fair } = limiter({ queueMax: 3, queuePerFlowMax: 3 });
    fair.acquire('noisy', never);
    const noisy = [1, 2, 3].map(() => Promise.resolve(fair.acquire('noisy', never)));
    const outcome = Promise.allSettled(noisy);
    const quiet = fair.acquire('quiet', never);
    expect(quiet).toBeInstanceOf(Promise);
    expect(fair.stats).toMatchObject({ queued: 3, flows: 2 });
    await expect(noisy[2]).rejects.toMatchObject({ status: { code: 429 } });
    expect(() => fair.acquire('noisy', never)).toThrow(/too many requests are waiting/);
    expect(outcome).toBeInstanceOf(Promise);
  });

  it('refuses when a full queue is shared equally', () => {
    const { fair } = limiter({ queueMax: 3 });
    fair.acquire('x', never);
    for (const flow of ['a', 'b', 'c']) void fair.acquire(flow, never);
    expect(() => fair.acquire('d', never)).toThrow(/too many requests are waiting/);
    expect(fair.stats.queued).toBe(3);
  });

  it('refuses whoever has waited too long, and lets the next one in afterwards', async () => {
    const { fair, clock } = limiter({ waitMsMax: 1_000 });
    const release = fair.acquire('a', never) as Release;
    const late = expect(fair.acquire('a', never)).rejects.toThrow(/waited too long/);
    await clock.advance(1_000);
    await late;
    expect(fair.stats).toEqual({ inFlight: 1, queued: 0, flows: 0 });
    release();
    expect(fair.stats.inFlight).toBe(0);
    expect(typeof fair.acquire('a', never)).toBe('function');
  });

  it('lets an aborted caller leave the queue and keeps nothing of it', async () => {
    const { fair, clock } = limiter();
    const release = fair.acquire('a', never) as Release;
    const gone = caller();
    const waiting = expect(fair.acquire('b', gone.onAbort)).rejects.toThrow(/left/);
    gone.abort();
    await waiting;
    expect(gone.listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
    release();
    expect(fair.stats).toEqual({ inFlight: 0, queued: 0, flows: 0 });
  });

  it('refuses a caller that had left before it came', async () => {
    const { fair, clock } = limiter();
    fair.acquire('a', never);
    const left: OnAbort = (listener) => {
      listener();
      return () => {};
    };
    await expect(fair.acquire('b', left)).rejects.toThrow(/left/);
    expect(fair.stats.queued).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('takes back its timer and its abort listener when a waiter is let in', async () => {
    const { fair, clock } = limiter();
    const release = fair.acquire('a', never) as Release;
    const waiting = caller();
    const place = fair.acquire('b', waiting.onAbort);
    release();
    await place;
    expect(waiting.listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('never exceeds its bounds and loses no waiter, whatever happens in whatever order', async () => {
    const step = fc.record({
      act: fc.constantFrom('acquire', 'acquire', 'acquire', 'release', 'abort', 'wait'),
      flow: fc.constantFrom('a', 'b', 'c', 'd'),
      pick: fc.nat(1_000),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, inFlightMax) => {
          const { fair, clock } = limiter({ inFlightMax, queueMax: 6, queuePerFlowMax: 4, waitMsMax: 300 });
          const held: Release[] = [];
          const waiting = new Set<ReturnType<typeof caller>>();
          for (const { act, flow, pick } of steps) {
            if (act === 'acquire') {
              const who = caller();
              try {
                const place = fair.acquire(flow, who.onAbort);
                if (typeof place === 'function') held.push(place);
                else {
                  waiting.add(who);
                  const gone = () => waiting.delete(who);
                  void place.then((release) => held.push(release)).then(gone, gone);
                }
              } catch {}
            } else if (act === 'release' && held.length > 0) held.splice(pick % held.length, 1)[0]!();
            else if (act === 'abort' && waiting.size > 0) [...waiting][pick % waiting.size]!.abort();
            else if (act === 'wait') await clock.advance(pick);
            await settle(1);
            expect(fair.stats.inFlight).toBeLessThanOrEqual(inFlightMax);
            expect(fair.stats.inFlight).toBe(held.length);
            expect(fair.stats.queued).toBe(waiting.size);
            expect(fair.stats.queued).toBeLessThanOrEqual(6);
            // Nobody waits beside a free place.
            if (fair.stats.queued > 0) expect(fair.stats.inFlight).toBe(inFlightMax);
          }
          while (held.length > 0) {
            held.pop()!();
            await settle(1);
          }
          expect(fair.stats).toEqual({ inFlight: 0, queued: 0, flows: 0 });
          expect(waiting.size).toBe(0);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../base/manual-clock.fixture.js';
import { type Caller, FairLimiter, type FairLimiterOptions, type Flow, type Release } from './fair-limiter.js';

const never: Caller = { onAbort: () => () => {} };

function limiter(options: Partial<FairLimiterOptions> = {}) {
  const clock = new ManualClock();
  return { clock, fair: new FairLimiter({ heldMax: 1, queueMax: 100, waitMsMax: 5_000, clock, ...options }) };
}

/** A user that shares with no other caller. */
function flow(name: string): Flow {
  return { group: name, member: name };
}

/** A caller that can be aborted once, like an exchange. */
function caller() {
  const listeners = new Set<() => void>();
  const onAbort: Caller['onAbort'] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const abort = () => {
    for (const listener of [...listeners]) listener();
  };
  return { onAbort, listeners, abort };
}

describe('FairLimiter', () => {
  it('makes other callers wait while an overdrawn amount exceeds the bounds', async () => {
    const { fair } = limiter({ heldMax: 10, heldPerGroupMax: 5 });
    const overdrawn = fair.overdraw(flow('a'), 12);
    expect(fair.stats.held).toBe(12);
    expect(fair.tryAcquire(flow('b'))).toBeUndefined();
    const waiting = fair.acquire(flow('a'), never, 5);
    overdrawn();
    (await waiting)();
    expect(fair.stats).toEqual({ held: 0, queued: 0, groups: 0 });
  });

  it('releases every amount and admits every waiter that fits, for any order of events', async () => {
    const step = fc.record({
      act: fc.constantFrom('acquire', 'acquire', 'try', 'overdraw', 'release', 'release', 'abort', 'wait'),
      group: fc.constantFrom('a', 'b', 'c'),
      member: fc.constantFrom('x', 'y'),
      amount: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { fair, clock } = limiter({ heldMax: 10, heldPerGroupMax: 6, queueMax: 6, queuePerGroupMax: 4 });
        const held: Release[] = [];
        const waiting = new Set<ReturnType<typeof caller>>();
        const acquire = (who: ReturnType<typeof caller>, group: string, member: string, amount: number) => {
          try {
            const place = fair.acquire({ group, member }, who, amount);
            if (typeof place === 'function') return void held.push(place);
            waiting.add(who);
            const gone = () => waiting.delete(who);
            place.then((release) => held.push(release)).then(gone, gone);
          } catch {}
        };
        for (const { act, group, member, amount } of steps) {
          if (act === 'acquire') acquire(caller(), group, member, amount);
          else if (act === 'overdraw') held.push(fair.overdraw({ group, member }, amount));
          else if (act === 'try') {
            const release = fair.tryAcquire({ group, member }, amount);
            if (release) held.push(release);
          } else if (act === 'release' && held.length > 0) held.splice(amount % held.length, 1)[0]!();
          else if (act === 'abort' && waiting.size > 0) [...waiting][amount % waiting.size]!.abort();
          else if (act === 'wait') await clock.advance(amount * 400);
          await settle(1);
          expect(fair.stats.queued).toBe(waiting.size);
          if (held.length === 0) expect(fair.stats).toEqual({ held: 0, queued: 0, groups: 0 });
        }
        while (held.length > 0) {
          held.pop()!();
          await settle(1);
        }
        expect(fair.stats).toEqual({ held: 0, queued: 0, groups: 0 });
        expect([waiting.size, clock.pending]).toEqual([0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('admits a caller synchronously while places are free', () => {
    const { fair } = limiter({ heldMax: 2 });
    const first = fair.acquire(flow('a'), never);
    const second = fair.acquire(flow('a'), never);
    expect(typeof first).toBe('function');
    expect(typeof second).toBe('function');
    expect(fair.acquire(flow('a'), never)).toBeInstanceOf(Promise);
    expect(fair.stats).toEqual({ held: 2, queued: 1, groups: 1 });
  });

  it('releases a place only once', () => {
    const { fair } = limiter({ heldMax: 2 });
    const release = fair.acquire(flow('a'), never) as Release;
    fair.acquire(flow('a'), never);
    release();
    release();
    expect(fair.stats.held).toBe(1);
  });

  it('takes turns between flows, however many requests of one flow are waiting', async () => {
    const { fair } = limiter();
    let release = fair.acquire(flow('noisy'), never) as Release;
    const served: string[] = [];
    const wait = (name: string) =>
      void (fair.acquire(flow(name), never) as Promise<Release>).then((next) => {
        served.push(name);
        release = next;
      });
    for (let i = 0; i < 20; i++) wait('noisy');
    for (const name of ['b', 'c', 'b']) wait(name);
    for (let i = 0; i < 6; i++) {
      release();
      await settle(1);
    }
    expect(served).toEqual(['noisy', 'b', 'c', 'noisy', 'b', 'noisy']);
  });

  it('admits requests of one flow in their order', async () => {
    const { fair } = limiter();
    let release = fair.acquire(flow('a'), never) as Release;
    const served: number[] = [];
    for (let i = 0; i < 5; i++) {
      void (fair.acquire(flow('a'), never) as Promise<Release>).then((next) => {
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
    const { fair } = limiter({ queuePerGroupMax: 2 });
    fair.acquire(flow('a'), never);
    void fair.acquire(flow('a'), never);
    void fair.acquire(flow('a'), never);
    expect(() => fair.acquire(flow('a'), never)).toThrow(
      expect.objectContaining({ retryAfterSeconds: 1, status: expect.objectContaining({ code: 429 }) }),
    );
    expect(fair.acquire(flow('b'), never)).toBeInstanceOf(Promise);
  });

  it('displaces a waiter of the longest flow when the queue is full', async () => {
    const { fair } = limiter({ queueMax: 3, queuePerGroupMax: 3 });
    fair.acquire(flow('noisy'), never);
    const noisy = [1, 2, 3].map(() => Promise.resolve(fair.acquire(flow('noisy'), never)));
    const outcome = Promise.allSettled(noisy);
    const quiet = fair.acquire(flow('quiet'), never);
    expect(quiet).toBeInstanceOf(Promise);
    expect(fair.stats).toMatchObject({ queued: 3, groups: 2 });
    await expect(noisy[2]).rejects.toMatchObject({ status: { code: 429 } });
    expect(() => fair.acquire(flow('noisy'), never)).toThrow(/too many requests are waiting/);
    expect(outcome).toBeInstanceOf(Promise);
  });

  it('refuses a request when a full queue is shared equally', () => {
    const { fair } = limiter({ queueMax: 3 });
    fair.acquire(flow('x'), never);
    for (const name of ['a', 'b', 'c']) void fair.acquire(flow(name), never);
    expect(() => fair.acquire(flow('d'), never)).toThrow(/too many requests are waiting/);
    expect(fair.stats.queued).toBe(3);
  });

  it('refuses a waiter after the maximum wait, and admits the next one afterwards', async () => {
    const { fair, clock } = limiter({ waitMsMax: 1_000 });
    const release = fair.acquire(flow('a'), never) as Release;
    const late = expect(fair.acquire(flow('a'), never)).rejects.toThrow(/waited too long/);
    await clock.advance(1_000);
    await late;
    expect(fair.stats).toEqual({ held: 1, queued: 0, groups: 1 });
    release();
    expect(fair.stats.held).toBe(0);
    expect(typeof fair.acquire(flow('a'), never)).toBe('function');
  });

  it('removes an aborted caller from the queue, with its timer and listener', async () => {
    const { fair, clock } = limiter();
    const release = fair.acquire(flow('a'), never) as Release;
    const gone = caller();
    const waiting = expect(fair.acquire(flow('b'), gone)).rejects.toThrow(/left/);
    gone.abort();
    await waiting;
    expect(gone.listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
    release();
    expect(fair.stats).toEqual({ held: 0, queued: 0, groups: 0 });
  });

  it('rejects a caller that was aborted before it asked', async () => {
    const { fair, clock } = limiter();
    fair.acquire(flow('a'), never);
    const left: Caller = {
      onAbort(listener) {
        listener();
        return () => {};
      },
    };
    await expect(fair.acquire(flow('b'), left)).rejects.toThrow(/left/);
    expect(fair.stats.queued).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('removes timer and abort listener of a waiter that is admitted', async () => {
    const { fair, clock } = limiter();
    const release = fair.acquire(flow('a'), never) as Release;
    const waiting = caller();
    const place = fair.acquire(flow('b'), waiting);
    release();
    await place;
    expect(waiting.listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('limits a group to its share while other groups are admitted', async () => {
    const { fair } = limiter({ heldMax: 4, heldPerGroupMax: 2 });
    const first = fair.acquire(flow('greedy'), never) as Release;
    fair.acquire(flow('greedy'), never);
    const third = fair.acquire(flow('greedy'), never);
    expect(third).toBeInstanceOf(Promise);
    expect(typeof fair.acquire(flow('other'), never)).toBe('function');
    first();
    expect(typeof (await third)).toBe('function');
    expect(fair.stats).toMatchObject({ held: 3, queued: 0 });
  });

  it('takes turns between the members of a group', async () => {
    const { fair } = limiter({ heldMax: 2, heldPerGroupMax: 1 });
    let release = fair.acquire({ group: 'unauthenticated', member: 'x' }, never) as Release;
    const served: string[] = [];
    for (const member of ['x', 'x', 'x', 'y', 'z']) {
      void (fair.acquire({ group: 'unauthenticated', member }, never) as Promise<Release>).then((next) => {
        served.push(member);
        release = next;
      });
    }
    for (let i = 0; i < 4; i++) {
      release();
      await settle(1);
    }
    expect(served).toEqual(['x', 'y', 'z', 'x']);
  });

  it('makes room for a new member of a group whose queue is full of another member', async () => {
    const { fair } = limiter({ queuePerGroupMax: 2 });
    fair.acquire(flow('holder'), never);
    const flooding = [1, 2].map(() => Promise.resolve(fair.acquire({ group: 'g', member: 'flood' }, never)));
    const refused = expect(flooding[1]).rejects.toMatchObject({ status: { code: 429 } });
    expect(fair.acquire({ group: 'g', member: 'new' }, never)).toBeInstanceOf(Promise);
    await refused;
    expect(() => fair.acquire({ group: 'g', member: 'flood' }, never)).toThrow(/of this caller are waiting/);
  });

  it('counts amounts, and small ones do not overtake a large one that waits', async () => {
    const { fair } = limiter({ heldMax: 10, heldPerGroupMax: 8 });
    const first = fair.acquire(flow('a'), never, 6) as Release;
    const large = fair.acquire(flow('b'), never, 8);
    expect(large).toBeInstanceOf(Promise);
    expect(fair.tryAcquire(flow('c'), 1)).toBeUndefined();
    const small = fair.acquire(flow('c'), never, 1);
    first();
    const releaseLarge = await large;
    expect(fair.stats.held).toBe(9);
    await small;
    releaseLarge();
    expect(fair.stats).toMatchObject({ held: 1, queued: 0 });
  });

  it('counts an amount above the share of a group as the whole share', () => {
    const { fair } = limiter({ heldMax: 10, heldPerGroupMax: 5 });
    expect(typeof fair.acquire(flow('a'), never, 1_000)).toBe('function');
    expect(fair.stats.held).toBe(5);
    expect(fair.acquire(flow('a'), never, 1)).toBeInstanceOf(Promise);
    expect(typeof fair.acquire(flow('b'), never, 5)).toBe('function');
  });

  it('reports the reason of each refusal', async () => {
    const refusals: string[] = [];
    const { fair, clock } = limiter({ queuePerGroupMax: 1, waitMsMax: 100, onRefused: (why) => refusals.push(why) });
    fair.acquire(flow('a'), never);
    const late = expect(fair.acquire(flow('a'), never)).rejects.toThrow();
    expect(() => fair.acquire(flow('a'), never)).toThrow();
    await clock.advance(100);
    await late;
    expect(refusals).toEqual(['queue-full', 'wait-time']);
  });

  it('never exceeds its bounds and loses no waiter, for any order of events', async () => {
    const step = fc.record({
      act: fc.constantFrom('acquire', 'acquire', 'acquire', 'release', 'abort', 'wait'),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      pick: fc.nat(1_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 3 }), async (steps, heldMax) => {
        const { fair, clock } = limiter({ heldMax, queueMax: 6, queuePerGroupMax: 4, waitMsMax: 300 });
        const held: Release[] = [];
        const waiting = new Set<ReturnType<typeof caller>>();
        for (const { act, name, pick } of steps) {
          if (act === 'acquire') {
            const who = caller();
            try {
              const place = fair.acquire(flow(name), who);
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
          expect(fair.stats.held).toBeLessThanOrEqual(heldMax);
          expect(fair.stats.held).toBe(held.length);
          expect(fair.stats.queued).toBe(waiting.size);
          expect(fair.stats.queued).toBeLessThanOrEqual(6);
          // No waiter remains while a place is free.
          if (fair.stats.queued > 0) expect(fair.stats.held).toBe(heldMax);
        }
        while (held.length > 0) {
          held.pop()!();
          await settle(1);
        }
        expect(fair.stats).toEqual({ held: 0, queued: 0, groups: 0 });
        expect(waiting.size).toBe(0);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

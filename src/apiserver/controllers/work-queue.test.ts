import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { WorkQueue, type WorkQueueOptions } from './work-queue.js';

function queueOf(options: Partial<WorkQueueOptions> & Pick<WorkQueueOptions, 'work'>) {
  const clock = new ManualClock();
  const failures: string[] = [];
  const queue = new WorkQueue({
    clock,
    onFailure: (key, error, count) => failures.push(`${key}: ${error.message} (${count})`),
    concurrencyMax: 2,
    keysMax: 100,
    perSecondMax: 1_000,
    burstMax: 1_000,
    backOff: { firstMs: 100, maxMs: 400 },
    ...options,
  });
  return { clock, failures, queue };
}

describe('a work queue', () => {
  it('processes a key once however often it is added, and once more if it is added during its work', async () => {
    const done: string[] = [];
    let finish = () => {};
    const { queue } = queueOf({
      work: async (key) => {
        done.push(key);
        if (done.length === 1) await new Promise<void>((resolve) => (finish = resolve));
        return undefined;
      },
    });
    queue.add('a');
    queue.add('a');
    await settle();
    queue.add('a');
    queue.add('a');
    expect(done).toEqual(['a']);
    finish();
    await settle();
    expect(done).toEqual(['a', 'a']);
  });

  it('retries with delays that grow up to a bound, and resets them after a success', async () => {
    const startedAt: number[] = [];
    const { clock, failures, queue } = queueOf({
      work: async () => {
        startedAt.push(clock.nowMs());
        if (startedAt.length < 6) throw new Error('no');
        return undefined;
      },
    });
    queue.add('a');
    await clock.advance(5_000);
    const waits = startedAt.slice(1).map((at, index) => at - startedAt[index]!);
    expect(waits).toEqual([100, 200, 400, 400, 400]);
    expect(failures).toHaveLength(5);
    expect(queue.size).toBe(0);
  });

  it('respects its bounds on concurrent work and on starts per second', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const { clock, queue } = queueOf({
      perSecondMax: 10,
      burstMax: 5,
      work: async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        done++;
        return undefined;
      },
    });
    for (let key = 0; key < 30; key++) queue.add(String(key));
    await settle();
    expect(done).toBe(5);
    await clock.advance(1_000);
    expect(done).toBeGreaterThanOrEqual(14);
    expect(done).toBeLessThanOrEqual(16);
    await clock.advance(2_000);
    expect(done).toBe(30);
    expect(most).toBe(2);
  });

  it('rejects keys when it is full, and calls back when it has room again', async () => {
    const done: string[] = [];
    let rooms = 0;
    const { queue } = queueOf({
      keysMax: 4,
      onRoom: () => rooms++,
      work: async (key) => {
        done.push(key);
        return undefined;
      },
    });
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
    await settle();
    expect(done).toEqual(['a', 'b', 'c', 'd']);
    expect(rooms).toBe(1);
  });

  it('starts no work after close, and waits for running work', async () => {
    let finish = () => {};
    const done: string[] = [];
    const { queue } = queueOf({
      concurrencyMax: 1,
      work: async (key) => {
        await new Promise<void>((resolve) => (finish = resolve));
        done.push(key);
        return 10;
      },
    });
    queue.add('a');
    queue.add('b');
    await settle();
    const closing = queue.close();
    finish();
    await closing;
    expect(done).toEqual(['a']);
    expect(queue.size).toBe(0);
  });
});

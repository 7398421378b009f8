import { describe, expect, it } from 'vitest';
import { runAtOnce, SLICE_MS_MAX, WorkSlices } from './work-slices.js';

/** Blocks the event loop for a little more than a slice. */
function workOfOneSlice(): void {
  const endMs = performance.now() + SLICE_MS_MAX + 1;
  while (performance.now() < endMs);
}

describe('WorkSlices', () => {
  it('lets other work run between two slices', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other client'));
    await new WorkSlices().run(
      (function* () {
        workOfOneSlice();
        order.push('first slice');
        yield;
        order.push('second slice');
      })(),
    );
    expect(order).toEqual(['first slice', 'other client', 'second slice']);
  });

  it('does not wait where all work fits into one slice', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other client'));
    await new WorkSlices().run(
      (function* () {
        yield;
        yield;
        order.push('done');
      })(),
    );
    expect(order).toEqual(['done']);
  });

  it('gives one long request a slice in each turn of the event loop, first come, first served', async () => {
    const order: string[] = [];
    let turn = 0;
    const count = (): void => {
      turn++;
      if (order.length < 3) setImmediate(count);
    };
    setImmediate(count);
    const turns: number[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await new WorkSlices().next();
        order.push(name);
        turns.push(turn);
      }),
    );
    expect(order).toEqual(['a', 'b', 'c']);
    expect(new Set(turns).size).toBe(3);
  });

  it('returns the result of the work, and throws its error', async () => {
    const returning = function* (): Generator<void, number> {
      yield;
      return 7;
    };
    const failing = function* (): Generator<void, number> {
      yield;
      throw new Error('broken');
    };
    expect(await new WorkSlices().run(returning())).toBe(7);
    expect(runAtOnce(returning())).toBe(7);
    await expect(new WorkSlices().run(failing())).rejects.toThrow('broken');
  });
});

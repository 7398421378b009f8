import { describe, expect, it } from 'vitest';
import { Turns } from './keyed-mutex.js';

describe('calls through the keyed mutex', () => {
  it('run one after the other for the same key, in order, even after a failure', async () => {
    const turns = new Turns();
    const told: string[] = [];
    const work = (name: string, fails = false) =>
      turns.take('a', async () => {
        told.push(`${name} begins`);
        await Promise.resolve();
        told.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const all = await Promise.allSettled([work('1'), work('2', true), work('3')]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(told).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  });

  it('do not wait for those of other keys', async () => {
    const turns = new Turns();
    const never = turns.take('a', () => new Promise(() => {}));
    await expect(turns.take('b', async () => 'done')).resolves.toBe('done');
    void never;
  });
});

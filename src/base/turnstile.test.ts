import { describe, expect, it } from 'vitest';
import { Turnstile } from './turnstile.js';

describe('Turnstile', () => {
  it('admits as many callers at once as it has places, and the others in order', async () => {
    const turnstile = new Turnstile(2);
    const entered: string[] = [];
    const enter = async (name: string): Promise<() => void> => {
      const leave = await turnstile.enter();
      entered.push(name);
      return leave;
    };
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(enter);
    const leaveA = await a!;
    await b;
    expect(entered).toEqual(['a', 'b']);
    leaveA();
    (await c!)();
    await d;
    expect(entered).toEqual(['a', 'b', 'c', 'd']);
  });
});

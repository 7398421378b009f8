import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MeasuredClient, phase } from './measured-client.js';

describe('a measured client', () => {
  it('counts failures of a phase, and its longest time without a good answer', async () => {
    let isUp = true;
    const send = async () => ({ status: isUp ? 200 : 503, text: '' });
    const client = new MeasuredClient({ name: 'client', ratePerSecond: 100, good: [200], send });
    const before = await phase('before', () => delay(150));
    const down = await phase('down', async () => {
      isUp = false;
      await delay(300);
      isUp = true;
    });
    const after = await phase('after', () => delay(150));
    const outcomes = await client.stop();
    expect(client.failedIn(before)).toEqual([]);
    expect(client.failedIn(down)).toHaveLength(client.sentIn(down).length);
    expect(client.sentIn(down).length).toBeGreaterThan(0);
    expect(client.failedIn(after)).toEqual([]);
    expect(client.longestSilenceMs(down)).toBeGreaterThan(290);
    const sent = [before, down, after].map((each) => client.sentIn(each).length);
    expect(outcomes.length - sent.reduce((a, b) => a + b, 0)).toBeLessThan(10);
  });

  it('was silent for the whole phase where nothing was answered', async () => {
    const client = new MeasuredClient({
      name: 'client',
      ratePerSecond: 50,
      good: [200],
      send: () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
    });
    const all = await phase('all', () => delay(100));
    const later = await phase('later', () => client.stop().then(() => delay(200)));
    expect(client.longestSilenceMs(all)).toBe(all.toMs - all.fromMs);
    expect(client.longestSilenceMs(later), 'after its end').toBeLessThan(100);
    expect(client.failedIn(all).every(({ error }) => error?.startsWith('ECONNREFUSED'))).toBe(true);
  });
});

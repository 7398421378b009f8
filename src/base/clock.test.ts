import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock, TIMER_MS_MAX } from './clock.js';

const YEAR_MS = 365 * 86_400_000;

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([TIMER_MS_MAX, TIMER_MS_MAX + 1, YEAR_MS, 300 * YEAR_MS])(
    'calls back after %d ms, neither earlier nor later',
    async (delayMs) => {
      const callback = vi.fn();
      systemClock.after(delayMs, callback);
      vi.advanceTimersByTime(delayMs - 1);
      await new Promise(setImmediate);
      expect(callback).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      await new Promise(setImmediate);
      expect(callback).toHaveBeenCalledOnce();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('cancels a long delay, before and after its first part', async () => {
    const callback = vi.fn();
    systemClock.after(YEAR_MS, callback)();
    expect(vi.getTimerCount()).toBe(0);
    const cancel = systemClock.after(YEAR_MS, callback);
    vi.advanceTimersByTime(YEAR_MS / 2);
    cancel();
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
    expect(callback).not.toHaveBeenCalled();
  });

  it('does not call back when it is cancelled as the delay ends', async () => {
    const callback = vi.fn();
    const cancel = systemClock.after(100, callback);
    vi.advanceTimersByTime(100);
    cancel();
    await new Promise(setImmediate);
    expect(callback).not.toHaveBeenCalled();
  });

  it('never calls back after an infinite delay', async () => {
    const callback = vi.fn();
    systemClock.after(Number.POSITIVE_INFINITY, callback);
    vi.advanceTimersByTime(10 * YEAR_MS);
    await new Promise(setImmediate);
    expect(callback).not.toHaveBeenCalled();
  });
});

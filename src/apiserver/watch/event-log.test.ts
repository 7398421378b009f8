import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CacheEvent } from './cache-event.js';
import { EVENTS_MAX, EventLog } from './event-log.js';
import { StoredObject } from './stored-object.js';

function event(revision: number): CacheEvent {
  const key = Buffer.from('/registry/configmaps/default/a');
  const stored = new StoredObject({ key, value: Buffer.from('{}'), createRevision: 1, modRevision: revision });
  return new CacheEvent(revision, stored, undefined);
}

describe('the events of an event log', () => {
  it('are found by the last revision of a reader', () => {
    const log = new EventLog();
    log.reset(10);
    for (const revision of [12, 15, 19]) log.append(event(revision));
    const at = (revision: number) => log.at(log.positionAfter(revision)!) as CacheEvent | undefined;
    expect(at(10)?.revision).toBe(12);
    expect(at(12)?.revision).toBe(15);
    expect(at(14)?.revision).toBe(15);
    expect(at(19)).toBeUndefined();
    expect(log.positionAfter(9)).toBeUndefined();
  });

  it('are lost only to readers that are too far behind', () => {
    const log = new EventLog();
    log.reset(0);
    const slow = log.positionAfter(0)!;
    for (let revision = 1; revision <= 3 * EVENTS_MAX; revision++) log.append(event(revision));
    expect(log.at(slow)).toBe('lost');
    expect(log.reaches(1)).toBe(false);
    const near = log.positionAfter(3 * EVENTS_MAX - 10)!;
    expect((log.at(near) as CacheEvent).revision).toBe(3 * EVENTS_MAX - 9);
  });
});

describe('readers of an event log', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function microtasks(): Promise<void> {
    await Promise.resolve();
    await Promise.resolve();
  }

  it('are woken asynchronously, once for all events of one turn', async () => {
    const log = new EventLog();
    const wake = vi.fn();
    log.onAppend(wake);
    log.append(event(1));
    log.append(event(2));
    expect(wake).not.toHaveBeenCalled();
    await microtasks();
    expect(wake).toHaveBeenCalledTimes(1);
    log.append(event(3));
    await microtasks();
    expect(wake).toHaveBeenCalledTimes(2);
  });

  it('are woken at once after a pause, whatever their number', async () => {
    const log = new EventLog();
    const wakes = Array.from({ length: 100 }, () => vi.fn());
    for (const wake of wakes) log.onAppend(wake);
    await vi.advanceTimersByTimeAsync(1_000);
    log.append(event(1));
    await microtasks();
    for (const wake of wakes) expect(wake).toHaveBeenCalledTimes(1);
  });

  it('are woken less often during a series of events if they are many', async () => {
    const log = new EventLog();
    const wake = vi.fn();
    log.onAppend(wake);
    for (let other = 1; other < 100; other++) log.onAppend(() => {});
    await vi.advanceTimersByTimeAsync(1_000);
    for (let revision = 1; revision <= 100; revision++) {
      log.append(event(revision));
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(wake.mock.calls.length).toBeGreaterThanOrEqual(9);
    expect(wake.mock.calls.length).toBeLessThanOrEqual(12);
  });
});

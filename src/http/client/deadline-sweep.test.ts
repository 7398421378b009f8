import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DeadlineSweep, type Expiring } from './deadline-sweep.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

class Member implements Expiring {
  deadlineAt = Number.POSITIVE_INFINITY;
  expiredAt: number[] = [];
  again = 0;

  constructor(readonly sweep: DeadlineSweep<Member>) {
    sweep.members.add(this);
  }

  expire(): void {
    this.expiredAt.push(performance.now());
    if (this.again > 0) this.sweep.set(this, this.again);
  }
}

it('DeadlineSweep expires each member once after its deadline, and no other', () => {
  const sweep = new DeadlineSweep<Member>();
  const [soon, later, never] = [new Member(sweep), new Member(sweep), new Member(sweep)];
  sweep.set(later, 10_000);
  sweep.set(soon, 50);
  sweep.set(never, 0);
  const startedAt = performance.now();
  vi.advanceTimersByTime(9_999);
  expect(soon.expiredAt).toHaveLength(1);
  expect(soon.expiredAt[0]! - startedAt).toBeLessThan(100);
  expect(later.expiredAt).toHaveLength(0);
  vi.advanceTimersByTime(200);
  expect(later.expiredAt).toHaveLength(1);
  expect(soon.expiredAt).toHaveLength(1);
  expect(never.expiredAt).toHaveLength(0);
});

it('DeadlineSweep uses the last deadline set', () => {
  const sweep = new DeadlineSweep<Member>();
  const member = new Member(sweep);
  for (let i = 0; i < 10; i++) {
    sweep.set(member, 1_000);
    vi.advanceTimersByTime(500);
  }
  expect(member.expiredAt).toHaveLength(0);
  sweep.set(member, 0);
  vi.advanceTimersByTime(60_000);
  expect(member.expiredAt).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('DeadlineSweep lets a member set a new deadline when it expires', () => {
  const sweep = new DeadlineSweep<Member>();
  const member = new Member(sweep);
  member.again = 300;
  sweep.set(member, 300);
  vi.advanceTimersByTime(1_000);
  expect(member.expiredAt.length).toBeGreaterThanOrEqual(2);
});

it('DeadlineSweep has one timer for all members, and none after stop()', () => {
  const sweep = new DeadlineSweep<Member>();
  for (let i = 0; i < 100; i++) sweep.set(new Member(sweep), 1_000 + i);
  expect(vi.getTimerCount()).toBe(1);
  sweep.stop();
  expect(vi.getTimerCount()).toBe(0);
});

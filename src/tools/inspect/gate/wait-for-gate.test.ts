import { describe, expect, it } from 'vitest';
import { closed, type GateReason } from './gate-reason.js';
import type { GateReport, GateWanted } from './gate-report.js';
import { gateLine } from './gate-text.js';
import { waitForGate } from './wait-for-gate.js';

const WANTED: GateWanted = { for: 'upgrade', server: undefined, allow: new Set() };

const report = (verdict: GateReport['verdict'], reasons: readonly GateReason[] = []): GateReport => ({
  verdict,
  for: 'upgrade',
  server: null,
  to: null,
  reasons,
  notes: [],
});

const waitsFor = (server: string) =>
  report('closed', [closed('rollout', { detail: server, servers: [server], next: 'Wait.' })]);

type Look = GateReport | Error | 'hangs';

/** Runs with a clock that only pauses move. */
async function wait(timeoutMs: number, looks: readonly Look[], lookMs = 0) {
  const changes: string[] = [];
  const startedAtMs: number[] = [];
  let nowMs = 0;
  let index = 0;
  const result = await waitForGate({
    wanted: WANTED,
    timeoutMs,
    nowMs: () => nowMs,
    pause: async (ms, signal) => {
      // A bound on work that is done has no effect.
      if (signal) await new Promise((resolve) => setImmediate(resolve));
      if (!signal?.aborted) nowMs += ms;
    },
    look: async () => {
      startedAtMs.push(nowMs);
      nowMs += lookMs;
      const found = looks[Math.min(index++, looks.length - 1)]!;
      if (found === 'hangs') return await new Promise<never>(() => {});
      if (found instanceof Error) throw found;
      return found;
    },
    onChange: (each) => changes.push(gateLine(each).trim()),
  });
  return { result, changes, startedAtMs, nowMs };
}

describe('straddle gate --wait', () => {
  it('returns the first report without a wait, whatever it says', async () => {
    const { result, startedAtMs, changes } = await wait(0, [waitsFor('b')]);
    expect(result.verdict).toBe('closed');
    expect(startedAtMs).toEqual([0]);
    expect(changes).toEqual([]);
  });

  it('looks every two seconds until the gate is open, and reports each change once', async () => {
    const looks = [waitsFor('b'), waitsFor('b'), waitsFor('c'), report('open')];
    const { result, startedAtMs, changes } = await wait(60_000, looks, 500);
    expect(result.verdict).toBe('open');
    expect(startedAtMs).toEqual([0, 2_000, 4_000, 6_000]);
    expect(changes).toEqual(['closed: rollout', 'closed: rollout']);
  });

  it('goes on after a look that failed, which counts as not known', async () => {
    const { result, changes } = await wait(60_000, [new Error('connection refused.'), report('open')]);
    expect(result.verdict).toBe('open');
    expect(changes).toEqual(['unknown: servers']);
  });

  it('ends with the last report when the time is over', async () => {
    const { result, nowMs } = await wait(5_000, [waitsFor('b')]);
    expect(result.verdict).toBe('closed');
    expect(nowMs).toBe(5_000);
  });

  it('ends when the time is over although a look hangs', async () => {
    const { result, nowMs } = await wait(5_000, [waitsFor('b'), 'hangs']);
    expect(result.reasons[0]!.servers).toEqual(['b']);
    expect(nowMs).toBe(5_000);
  });
});

import { describe, expect, it } from 'vitest';
import { AT_MS, upgradeState } from '../../test/page/states.js';
import { lanesOf, marksOf, rangeOf } from './timeline-input.js';

const { timeline } = upgradeState();
const MINUTE = 60_000;

describe('the timeline', () => {
  it('begins with the start of the server where more time is asked for', () => {
    expect(rangeOf(timeline, AT_MS, 6 * 60 * MINUTE)).toEqual({ fromMs: timeline.startedAtMs, toMs: AT_MS });
    expect(rangeOf(timeline, AT_MS, undefined).fromMs).toBe(timeline.startedAtMs);
    expect(rangeOf(timeline, AT_MS, 15 * MINUTE).fromMs).toBe(AT_MS - 15 * MINUTE);
  });

  it('is a minute long right after the start', () => {
    const { fromMs, toMs } = rangeOf({ ...timeline, startedAtMs: AT_MS - 100 }, AT_MS, undefined);
    expect(toMs - fromMs).toBeGreaterThanOrEqual(MINUTE);
  });

  it('has only spans that reach into its range', () => {
    const lanes = lanesOf(timeline, rangeOf(timeline, AT_MS, 10 * MINUTE));
    expect(lanes.map(({ spans }) => spans.map(({ label }) => label))).toEqual([['v1.36.4'], ['v1.36.4'], ['v1.37.1']]);
  });

  it('says in words where a server was not ready, and for how long', () => {
    const all = lanesOf(timeline, rangeOf(timeline, AT_MS, undefined));
    const gone = all[2]!.spans.find(({ kind }) => kind === 'gone')!;
    expect(gone.label).toBe('gone, remembered');
    expect(gone.title).toMatch(/^cp-3: gone, remembered from .* until .* \(2 min 30 s\)$/);
  });

  it('has only events of its range', () => {
    const marks = marksOf(timeline, rangeOf(timeline, AT_MS, 13 * MINUTE));
    expect(marks.map(({ kind }) => kind)).toEqual(['prevented-404', 'prevented-404', 'prevented-404']);
  });
});

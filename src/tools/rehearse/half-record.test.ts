import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { HalfRecord, type RequestVerdict } from './half-record.js';
import { LatencyHistogram } from './latency-histogram.js';

const NONE = { bad: 0, of: 0 };
const REST = {
  proxy: true,
  leftInStore: 3,
  counts: { collectedByMistake: NONE, notCollected: NONE, namespacesEndedEarly: NONE, namespacesStuck: NONE },
};

describe('the record of a half', () => {
  const answer = (record: HalfRecord, verdict: RequestVerdict, tookMs = 5): void =>
    record.answer({ share: 'common', verdict, tookMs, text: `${verdict} happened` });

  it('has one sample for each second, quiet ones included', async () => {
    const clock = new ManualClock();
    const record = new HalfRecord(clock);
    answer(record, 'well');
    answer(record, 'wrong-404');
    await clock.advance(2_500);
    answer(record, 'unavailable-503');
    record.flap('flapped');
    const { seconds, findings, durationMs } = record.result(REST);
    expect(durationMs).toBe(2_500);
    expect(seconds.map(({ requests, wrong404s, unavailable503s }) => [requests, wrong404s, unavailable503s])).toEqual([
      [2, 1, 0],
      [0, 0, 0],
      [1, 0, 1],
    ]);
    expect(seconds[1]!.p50Ms).toBeUndefined();
    expect(seconds[2]!.discoveryFlaps).toBe(1);
    expect(findings).toMatchObject({
      requests: 3,
      wrong404s: 1,
      unavailable503s: 1,
      otherErrors: 0,
      discoveryFlaps: 1,
    });
  });

  it('keeps the first few examples of each kind, and all counts', () => {
    const record = new HalfRecord(new ManualClock());
    for (let index = 0; index < 100; index++) answer(record, 'other-error');
    answer(record, 'wrong-404');
    const { examples, findings } = record.result(REST);
    expect(examples.map(({ kind }) => kind)).toEqual([...Array(5).fill('other-error'), 'wrong-404']);
    expect(findings.otherErrors).toBe(100);
  });

  it('has the latency of successful requests only, separately for common and skewed resources', () => {
    const record = new HalfRecord(new ManualClock());
    answer(record, 'wrong-404', 5_000);
    answer(record, 'well', 10);
    record.answer({ share: 'skewed', verdict: 'well', tookMs: 100, text: '' });
    const { latencyOfCommon, latencyOfSkewed } = record.result(REST).findings;
    expect(latencyOfCommon.p99Ms / 10).toBeCloseTo(1, 1);
    expect(latencyOfSkewed.p99Ms / 100).toBeCloseTo(1, 1);
  });
});

describe('LatencyHistogram', () => {
  it('returns percentiles within a few per cent, and its bounds for values beyond the scale', () => {
    const histogram = new LatencyHistogram();
    for (let ms = 1; ms <= 1_000; ms++) histogram.add(ms);
    expect(histogram.percentile(50)! / 500).toBeCloseTo(1, 1);
    expect(histogram.percentile(99)! / 990).toBeCloseTo(1, 1);
    histogram.add(10_000_000);
    expect(histogram.percentile(100)).toBeLessThan(70_000);
    expect(new LatencyHistogram().percentile(50)).toBeUndefined();
    expect(new LatencyHistogram().summary()).toEqual({ p50Ms: 0, p99Ms: 0 });
  });
});

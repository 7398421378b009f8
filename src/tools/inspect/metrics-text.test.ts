import { describe, expect, it } from 'vitest';
import { skewMs } from './checks/clock-check.js';
import { readinessOf } from './endpoint-reading.js';
import { MetricsPage } from './metrics-text.js';

describe('MetricsPage', () => {
  const page = new MetricsPage(
    [
      '# HELP kubernetes_feature_enabled x',
      '# TYPE straddle_departed_servers gauge',
      'kubernetes_feature_enabled{name="A",stage=""} 1',
      'kubernetes_feature_enabled{name="B",stage="BETA"} 0 1700000000',
      'apiserver_rerouted_request_total{code="200",group="",version="v1",resource="pods"} 3',
      'apiserver_rerouted_request_total{code="503",group="b\\"}x",version="v1",resource="jobs"} 4e0',
      'other_total 5',
      'straddle_host_ready NaN',
    ].join('\n'),
  );

  it('returns gates, sums and labels with escaped characters', () => {
    expect([page.featureEnabled('A'), page.featureEnabled('B'), page.featureEnabled('C')]).toEqual([
      true,
      false,
      undefined,
    ]);
    expect(page.sum('apiserver_rerouted_request_total')).toBe(7);
    expect(page.all('apiserver_rerouted_request_total')[1]!.labels.get('group')).toBe('b"}x');
  });

  it('distinguishes a family without samples from a missing one', () => {
    expect(page.sum('straddle_departed_servers')).toBe(0);
    expect(page.sum('straddle_wrong_404_prevented_total')).toBeUndefined();
  });
});

describe('readinessOf', () => {
  it('returns the names of the checks and of the failed ones', () => {
    const found = readinessOf(500, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n');
    expect(found).toEqual({
      isReady: false,
      checks: new Set(['ping', 'etcd']),
      failed: ['etcd failed: reason withheld'],
    });
    expect(readinessOf(403, '')).toBeUndefined();
  });
});

describe('skewMs of a server clock', () => {
  it.each([
    [
      'none while the header, cut to seconds, can be right',
      { dateMs: 9_000, askedAtMs: 9_990, answeredAtMs: 10_100 },
      0,
    ],
    ['behind', { dateMs: 5_000, askedAtMs: 9_000, answeredAtMs: 9_100 }, -3_000],
    ['ahead', { dateMs: 15_000, askedAtMs: 9_000, answeredAtMs: 9_100 }, 5_900],
  ])('is %s', (_, reading, expected) => {
    expect(skewMs(reading)).toBe(expected);
  });
});

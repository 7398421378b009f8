import { expect, test } from 'vitest';
import { plot } from './plot.js';

const row = (contestant: string, median: number) => ({
  case: 'local',
  contestant,
  metric: 'throughput',
  unit: '1/s',
  median,
  min: median / 2,
  max: median * 2,
});

test('the plot draws contestants of one metric in one panel with one scale', () => {
  const svg = plot({ rows: [row('direct', 100), row('Straddle <local>', 50)], bars: [] });
  const widths = [...svg.matchAll(/<rect x="300" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(2);
  expect(widths[0]! / widths[1]!).toBeCloseTo(2, 1);
  expect(svg).toContain('Straddle &lt;local&gt;');
});

test('the plot shows the verdict of each benchmark bar', () => {
  const bars = [
    { name: 'kept', ratio: 2, bar: 1, holds: true },
    { name: 'broken', ratio: 0.5, bar: 1, holds: false },
    { name: 'open', ratio: 0.5, bar: 1, holds: false, notMeasurable: true as const },
  ];
  const verdicts = [...plot({ rows: [], bars }).matchAll(/>(holds|fails|not measurable)</g)].map(
    ([, verdict]) => verdict,
  );
  expect(verdicts).toEqual(['holds', 'fails', 'not measurable']);
});

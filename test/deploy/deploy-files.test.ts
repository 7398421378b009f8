import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/metric-catalogue.js';
import { EXPECTED_ALERTS } from './expected-alerts.js';
import { unknownNames } from './metric-names.js';
import { promqlNames } from './promql.js';
import { readRecording } from './recording.js';
import { alertRules, labelsShown } from './rules-file.js';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly Target[];
  }[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

const dashboard = JSON.parse(read('deploy/grafana/straddle.json')) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const labelsOfLegend = (legend: string) => [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);

describe('unknownNames', () => {
  it.each([
    ['straddle_host_ready{job="x",instance=~"{a}"} == 0 and on (instance) up', []],
    ['sum by (le, verb) (rate(apiserver_request_duration_seconds_bucket[5m]))', []],
    ['straddle_host_redy == 0', ['no metric straddle_host_redy']],
    ['max by (peer) (straddle_peer_usable{kinds="a"})', ['straddle_peer_usable has no label kinds']],
    ['sum by (peer) (straddle_host_ready)', ['no metric of the expression has the label peer']],
    ['apiserver_request_duration_seconds > 1', ['no metric apiserver_request_duration_seconds']],
    ['straddle_host_ready_bucket > 1', ['no metric straddle_host_ready_bucket']],
    ['1 > 0', ['no metric in 1 > 0']],
  ])('of %s are %j', (expression, problems) => {
    expect(unknownNames(expression)).toEqual(problems);
  });

  it('are also labels that are shown and that no series has', () => {
    expect(unknownNames('straddle_departed_servers', ['peer'])).toEqual([
      'no metric of the expression has the label peer',
    ]);
  });

  it('reads operators, functions, ranges and strings as what they are', () => {
    const { metrics } = promqlNames('increase(a_total{x="b{c} or d"}[5m]) unless on (x) b offset 5m > bool 1e3 or inf');
    expect(metrics).toEqual([
      { name: 'a_total', labels: ['x'] },
      { name: 'b', labels: [] },
    ]);
  });
});

describe('the Prometheus alerts', () => {
  it.each(alertRules().map((rule) => [rule.alert, rule] as const))(
    '%s uses metrics and labels that exist',
    (_, rule) => {
      expect(unknownNames(rule.expr, labelsShown(rule))).toEqual([]);
    },
  );

  it.each(alertRules().map((rule) => [rule.alert, rule] as const))('%s is for the job straddle only', (_, { expr }) => {
    for (const { labels } of promqlNames(expr).metrics) expect(labels).toContain('job');
  });

  it.each(alertRules().map((rule) => [rule.alert, rule] as const))(
    '%s has a runbook that exists',
    (_, { annotations }) => {
      const [page, heading] = annotations['runbook']!.split('#');
      const headings = [...read(page!).matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
        text!.toLowerCase().replaceAll(' ', '-'),
      );
      if (heading !== undefined) expect(headings).toContain(heading);
    },
  );

  it('are in the tables of the documents, with their metrics', () => {
    const monitoring = read('docs/operations/monitoring.md');
    const reference = read('docs/reference/metrics.md');
    for (const { alert, expr } of alertRules()) {
      expect(monitoring, alert).toContain(`| \`${alert}\` |`);
      const metrics = new Set(promqlNames(expr).metrics.map(({ name }) => `\`${name}\``));
      expect(reference).toContain(`| \`${alert}\` | ${[...metrics].join(', ')} |`);
    }
  });
});

describe('the recordings', () => {
  const names = readdirSync(new URL('recorded/', import.meta.url)).map((file) => file.replace('.recorded.json', ''));

  it('have expected alerts each, and there are no others', () => {
    expect(Object.keys(EXPECTED_ALERTS).sort()).toEqual(names.sort());
  });

  it('have every metric that an alert uses', () => {
    const recorded = new Set(
      names.flatMap((name) => Object.keys(readRecording(name).series)).map((series) => series.split('{')[0]),
    );
    const used = alertRules().flatMap(({ expr }) => promqlNames(expr).metrics.map(({ name }) => name));
    expect(used.filter((name) => !recorded.has(name))).toEqual([]);
  });
});

describe('the Grafana dashboard', () => {
  it.each(queries.map((query) => [`${query.title}: ${query.expr}`, query] as const))(
    'has a query of metrics that exist: %s',
    (_, query) => {
      expect(unknownNames(query.expr, labelsOfLegend(query.legendFormat))).toEqual([]);
    },
  );

  it('marks times by metrics that exist', () => {
    for (const { expr } of dashboard.annotations.list) expect(unknownNames(expr)).toEqual([]);
  });

  it('has panels that do not overlap', () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), title).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});

describe('docs/reference/metrics.md', () => {
  const page = read('docs/reference/metrics.md');

  it.each(
    createMetrics()
      .registry.declared()
      .map(({ name, labelNames }) => [name, labelNames] as const),
  )('has %s with the labels %j', (name, labelNames) => {
    const lines = page.split('\n').filter((line) => line.startsWith('| `') && isAbout(line, name));
    expect(lines.map((line) => line.split('|')[2]!.trim())).toContain(labelNames.join(', '));
  });

  /** A line may have several names, and later ones without their common beginning: `a_hits_total`, `…_misses_total`. */
  function isAbout(line: string, name: string): boolean {
    const names = [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
    return names.some((each) => (each.startsWith('…') ? name.endsWith(each.slice(1)) : each === name));
  }
});

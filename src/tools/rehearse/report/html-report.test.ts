import { describe, expect, it } from 'vitest';
import type { SecondSample } from '../rehearsal-result.js';
import { htmlReport } from './html-report.js';
import { half, rehearsal, SETTINGS } from './rehearsal.fixture.js';

const HOSTILE = `"><img src=x onerror='alert(1)'></style></title><script>alert(1)</script>&amp;\x00\u202e`;

/** Tag by tag: everything that is opened is closed, in order, and no attribute is cut open. */
function unbalanced(page: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  const tags = page
    .replace(/<style>.*?<\/style>/s, '')
    .matchAll(/<(\/?)([a-z0-9]+)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*(\/?)>/g);
  for (const [tag, closing, name, , self] of tags) {
    if (self === '/' || name === 'meta') continue;
    if (closing === '') open.push(name!);
    else if (open.pop() !== name) wrong.push(tag);
  }
  return [...wrong, ...open];
}

function plotNamed(page: string, title: string): string {
  return page.split('<svg').find((each) => each.includes(`>${title}</title>`))!;
}

const valuesOf = (plot: string) =>
  [.../class="values">(.*?)<\/g>/s.exec(plot)![1]!.matchAll(/>([^<]+)<\/text>/g)].map(([, text]) => text);
const timesOf = (plot: string) =>
  [.../class="times">(.*?)<\/g>/s.exec(plot)![1]!.matchAll(/>([^<]+)<\/text>/g)].map(([, text]) => text);

describe('the HTML report', () => {
  const page = htmlReport(rehearsal());

  it('loads nothing from elsewhere and has no script', () => {
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|form|a|base)\b/);
    expect(page).not.toMatch(/\bon[a-z]+=|url\(|@import|https?:|javascript:/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(unbalanced(page)).toEqual([]);
  });

  it('escapes all text of servers and programs, in content and in attributes', () => {
    const hostile = htmlReport({
      from: HOSTILE,
      to: HOSTILE,
      startedAt: HOSTILE,
      made: HOSTILE,
      servers: 3,
      settings: { ...SETTINGS, skewed: HOSTILE },
      differences: [{ name: HOSTILE, servedBy: HOSTILE, exercises: [], reason: HOSTILE }],
      notes: [HOSTILE],
      halves: [
        half(false, {
          steps: [{ name: HOSTILE, beginMs: 0, endMs: 80_000, replaces: { server: HOSTILE, version: HOSTILE } }],
          examples: [{ atMs: 0, kind: 'wrong-404', text: HOSTILE }],
          exec: [{ beginMs: 0, endMs: 1, exitCode: 1, output: HOSTILE }],
        }),
      ],
    });
    expect(hostile).not.toMatch(/<script|<img|[\x00\u202e]/);
    expect(hostile).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;');
    expect(hostile).toContain('&amp;amp;');
    expect(unbalanced(hostile)).toEqual([]);
  });

  it('lists what differs, how it is exercised, and why the rest is not', () => {
    expect(page).toContain(
      '<th scope="row"><code>podcertificaterequests.v1.certificates.k8s.io</code></th><td data-label="only in">1.37</td><td data-label="exercised by">requests, watches, owners, namespaces</td>',
    );
    expect(page).toContain('<td>not exercised: 1.37 refuses an object of it (422 spec.target: Required value)');
    expect(htmlReport(rehearsal({ notes: ['No namespaced resource differs.'] }))).toContain(
      '<p class="lead">No namespaced resource differs.</p>',
    );
  });

  it('has a lane for each server, with its versions and the steps that replaced it', () => {
    const lanes = plotNamed(page, 'Versions of the servers, proxy on');
    expect([...lanes.matchAll(/<text x="48" y="\d+">([^<]+)/g)].map(([, name]) => name)).toEqual([
      'server-1',
      'server-2',
      'server-3',
    ]);
    expect(lanes).toContain('<title>server-1: 1.37, 0:13–1:17</title>');
    expect(lanes).toContain('class="lane changing"><title>upgrade server-1 to 1.37, 0:10–0:13</title>');
    expect(lanes).toContain('<title>server-1: 1.36, 1:20–1:30</title>');
    expect(page).toContain('<li><b>2</b> upgrade server-1 to 1.37</li>');
  });

  it('has no lanes for a half in which nothing was replaced', () => {
    const quiet = half(true, { steps: [{ name: 'hold', beginMs: 0, endMs: 80_000 }] });
    const report = htmlReport(rehearsal({ halves: [quiet] }));
    expect(report).not.toContain('Versions of the servers');
    expect(report).not.toContain('step-labels"');
    expect(unbalanced(report)).toEqual([]);
  });

  it('has the settings with which it was run', () => {
    expect(page).toContain('<dt>Load</dt><dd>120 requests a second by 6 clients</dd>');
    expect(page).toContain('<dt>Own objects</dt><dd>2</dd>');
    const one = htmlReport(rehearsal({ settings: { ...SETTINGS, skewed: 'pods.v1/resize', exec: true } }));
    expect(one).toContain('<dt>Exercised</dt><dd>pods.v1/resize</dd>');
    expect(one).toContain('<dt>Own program</dt><dd>yes (--exec)</dd>');
  });

  it('draws both halves with the same scales', () => {
    for (const title of [
      'Wrong 404s per second',
      '503s per second',
      'Discovery flaps per second',
      'Latency per second, logarithmic',
    ]) {
      const [off, on] = [plotNamed(page, `${title}, proxy off`), plotNamed(page, `${title}, proxy on`)];
      expect(valuesOf(off)).toEqual(valuesOf(on));
      expect(timesOf(off)).toEqual(timesOf(on));
    }
    expect(valuesOf(plotNamed(page, 'Wrong 404s per second, proxy off'))).toEqual(['0', '10', '20']);
    expect(timesOf(plotNamed(page, 'Wrong 404s per second, proxy off'))).toEqual([
      '0:00',
      '0:15',
      '0:30',
      '0:45',
      '1:00',
      '1:15',
      '1:30',
    ]);
  });

  it('draws a bar for each second with failures, and the word none without failures', () => {
    const { seconds } = half(false);
    const bad = seconds.filter(({ wrong404s }) => wrong404s > 0).length;
    const off = plotNamed(page, 'Wrong 404s per second, proxy off');
    expect(off.match(/<title>\d+:\d\d: \d+ wrong 404s?<\/title>/g)).toHaveLength(bad);
    expect(off).toContain('>762 wrong 404s in all; most at ');
    expect(plotNamed(page, 'Wrong 404s per second, proxy on')).toContain('>none</text>');
  });

  it('interrupts the latency line in seconds without successful requests', () => {
    const on = half(true);
    const seconds = on.seconds.map((each, index) =>
      index === 5 || index === 7 ? { ...each, p50Ms: undefined, p99Ms: undefined } : each,
    );
    const plot = plotNamed(
      htmlReport(rehearsal({ halves: [{ ...on, seconds }] })),
      'Latency per second, logarithmic, proxy on',
    );
    expect(/class="p50" d="([^"]*)"/.exec(plot)![1]!.match(/M/g)).toHaveLength(3);
  });

  it('draws several seconds as one bar in a long rehearsal, with the same totals', () => {
    const second: SecondSample = {
      requests: 1,
      wrong404s: 1,
      unavailable503s: 0,
      otherErrors: 0,
      discoveryFlaps: 0,
      p50Ms: 1,
      p99Ms: 2,
    };
    const long = half(false, { durationMs: 3_600_000, seconds: Array(3_600).fill(second), steps: [] });
    const plot = plotNamed(htmlReport(rehearsal({ halves: [long] })), 'Wrong 404s per 15 s, proxy off');
    const bars = [...plot.matchAll(/<title>[\d:]+: ([\d,]+) wrong 404s<\/title>/g)].map(([, count]) => Number(count));
    expect(bars).toHaveLength(240);
    expect(bars.reduce((sum, each) => sum + each, 0)).toBe(3_600);
  });

  it('names each step in the ribbon and lists it with its number', () => {
    expect(page).toContain('<title>2 upgrade server-1 to 1.37, 0:10–0:13</title>');
    expect(page).toMatch(
      /<td class="number">2<\/td><th scope="row">upgrade server-1 to 1\.37<\/th><td data-half="proxy off">0:10–0:13.*<b>\d+ wrong 404s<\/b>/,
    );
  });

  it('has a word for each colour', () => {
    expect(page).toContain(
      '<td class="figure harm" data-half="proxy off"><i role="img" aria-label="harm">✗</i>762</td>',
    );
    expect(page).toContain(
      '<td class="figure clean" data-half="proxy on"><i role="img" aria-label="clean">✓</i>0</td>',
    );
    for (const [, content] of page.matchAll(/<table[^>]*>(.*?)<\/table>/gs)) expect(content).toMatch(/^<caption>/);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, labels] of page.matchAll(/aria-labelledby="([^"]+)"/g)) {
      for (const label of labels!.split(' ')) expect(ids).toContain(label);
    }
  });

  it.each([
    ['nothing', rehearsal({ halves: [] })],
    [
      'one half without a second',
      rehearsal({ halves: [half(true, { durationMs: 0, seconds: [], steps: [], examples: [] })] }),
    ],
  ])('is a whole page of %s', (_, result) => {
    const small = htmlReport(result);
    expect(unbalanced(small)).toEqual([]);
    expect(small).not.toMatch(/NaN|Infinity|undefined/);
  });
});

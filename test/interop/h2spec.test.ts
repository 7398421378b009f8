import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faultsOf, H2SPEC_DEVIATIONS, readReport } from './h2spec.js';

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="5.3.1. Stream Dependencies" package="http2/5.3.1" id="5.3.1" tests="2" errors="1">
    <testcase package="http2/5.3.1" classname="depends on &#34;itself&#34;" time="2.0">
      <error>GOAWAY Frame
Timeout</error>
    </testcase>
    <testcase package="http2/5.3.1" classname="is good" time="0.1"></testcase>
    <testcase package="http2/6.9" classname="was not run" time="0.1"><skipped></skipped></testcase>
  </testsuite>
</testsuites>`;

const failed = { section: 'http2/5.3.1', test: 'depends on "itself"', outcome: 'failed' } as const;
const passed = { section: 'http2/5.3.1', test: 'is good', outcome: 'passed' } as const;
const skipped = { section: 'http2/6.9', test: 'was not run', outcome: 'skipped' } as const;
const listed = (section: string, test: string) => [{ section, test, reason: 'deliberately' }];

it('lists the same deviations from h2spec in code and in docs/real-rig.md', () => {
  const docs = readFileSync(new URL('../../docs/real-rig.md', import.meta.url), 'utf8');
  const rows = docs.match(/^\| http2\/.*$/gm);
  expect(rows).toEqual(H2SPEC_DEVIATIONS.map(({ section, test, reason }) => `| ${section} | ${test} | ${reason} |`));
});

it('reads the outcome of every case from a report of h2spec', () => {
  expect(readReport(REPORT)).toEqual([failed, passed, skipped]);
});

it('accepts exactly the listed failures of h2spec', () => {
  expect(faultsOf([failed, passed], listed(failed.section, failed.test), 2)).toEqual([]);
  expect(faultsOf([failed, passed], [], 2)).toEqual(['failed: http2/5.3.1 depends on "itself"']);
});

it('reports a listed case of h2spec that passes or does not exist', () => {
  expect(faultsOf([passed], listed(passed.section, passed.test), 1)).toEqual([
    'passes, but is listed as a deviation: http2/5.3.1 is good',
  ]);
  expect(faultsOf([passed], listed('http2/9', 'nothing'), 1)).toEqual([
    'listed as a deviation, but no case of h2spec: http2/9 nothing',
  ]);
});

it('reports cases of h2spec that were not run', () => {
  expect(faultsOf([passed, skipped], [], 2)).toEqual(['skipped: http2/6.9 was not run']);
  expect(faultsOf([passed], [], 2)).toEqual(['1 cases were run instead of 2']);
  expect(faultsOf([])).toHaveLength(1 + H2SPEC_DEVIATIONS.length);
});

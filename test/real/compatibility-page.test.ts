import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compatibilityPage } from './compatibility-page.js';
import { nativeOf, type RunRecord, readRecord, type ScenarioResult, writeRecord } from './record.js';

const SERVERS = { a: 'v1.36.4', b: 'v1.37.1', c: 'v1.37.1' } as const;
const RESULT: ScenarioResult = { number: 1, name: 'one', result: 'passed', seconds: 1, native: ['off'], clients: [] };

function run(date: string, ...scenarios: Partial<ScenarioResult>[]): RunRecord {
  const all = scenarios.map((each) => ({ ...RESULT, ...each }));
  return { date, straddle: '0.1.0', node: '20.20.2', servers: SERVERS, scenarios: all };
}

const kubectl = (version: string, native: 'on' | 'off') => ({ name: 'kubectl', version, native }) as const;

test('a cell of the clients has the scenarios that passed with that client and that setting, or says that it was not run', () => {
  const page = compatibilityPage([
    run(
      '2026-11-18',
      { number: 17, clients: [kubectl('1.20.2', 'off'), kubectl('1.37.1', 'off')] },
      { number: 50, native: ['off', 'on'], clients: [kubectl('1.20.2', 'off'), kubectl('1.20.2', 'on')] },
    ),
  ]);
  expect(page).toContain('| servers | native feature | kubectl 1.20.2 | kubectl 1.37.1 | date |');
  expect(page).toContain('| A 1.36.4, B and C 1.37.1 | off | 17, 50 | 17 | 2026-11-18 |');
  expect(page).toContain('| A 1.36.4, B and C 1.37.1 | on | 50 | not run | 2026-11-18 |');
});

test('a client in a scenario that failed is no success', () => {
  const page = compatibilityPage([
    run('2026-11-18', { number: 50, result: 'failed', clients: [kubectl('1.20.2', 'off')] }),
  ]);
  expect(page).toContain('| off | failed: 50 | 2026-11-18 |');
});

test('of two runs on the same servers the later result of each scenario counts, whatever the order of the files', () => {
  const later = run('2026-11-19', { number: 2, result: 'passed' });
  const earlier = run('2026-11-18', { number: 1 }, { number: 2, result: 'failed' });
  const page = compatibilityPage([later, earlier]);
  expect(page).toContain('| A 1.36.4, B and C 1.37.1 | 2 | 0 | 0 | 2 | 0 | 0 | 2026-11-18, 2026-11-19 |');
});

test('what was skipped is counted, and its reason is there', () => {
  const page = compatibilityPage([run('2026-11-18', { number: 3, result: 'skipped', reason: 'nothing differs' })]);
  expect(page).toContain('- 3 with A 1.36.4, B and C 1.37.1: nothing differs');
  expect(page).toContain('| 3 | one | skipped |');
});

test('a record is read as it was written; a file that is none is refused by its name', () => {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    const file = join(dir, 'record.json');
    const written = run('2026-11-18', { number: 1 }, { number: 2 });
    writeRecord(file, written);
    expect(readRecord(file)).toEqual(written);
    writeFileSync(file, '{}');
    expect(() => readRecord(file)).toThrow(/record\.json is no record of a run/);
    writeFileSync(file, '{');
    expect(() => readRecord(file)).toThrow(/record\.json cannot be read/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('the native feature is on only where every server of a layout has it', () => {
  const off = { version: 'v1.36.4', flags: [] } as const;
  const on = { ...off, native: true };
  const straddle = { a: {}, b: {}, c: {} };
  expect(nativeOf({ kube: { a: off, b: off, c: off }, straddle })).toBe('off');
  expect(nativeOf({ kube: { a: on, b: on, c: undefined }, straddle })).toBe('on');
  expect(nativeOf({ kube: { a: on, b: off, c: off }, straddle })).toBe('on in some');
});

test('docs/compatibility.md is made from the recorded runs', () => {
  const folder = new URL('./results/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const records = names.sort().map((name) => readRecord(new URL(name, folder).pathname));
  const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8');
  expect(page, 'run `npm run compatibility`').toBe(compatibilityPage(records));
});

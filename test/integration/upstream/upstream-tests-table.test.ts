import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** docs/reference/upstream-tests.md names every test of this directory, and every case that it says is ported has a test. */

const DIRECTORY = import.meta.dirname;
const TABLE = 'docs/reference/upstream-tests.md';
const VERDICTS = ['same', 'stricter', 'differs', 'not applicable'];

interface Row {
  readonly name: string;
  readonly verdict: string;
  readonly why: string;
}

/** The rows of each section, by the test file that the section's heading names; `none` for a section without a file. */
function sections(): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  let rows: Row[] = [];
  for (const line of readFileSync(TABLE, 'utf8').split('\n')) {
    const heading = /^## .* → (?:`([\w-]+\.test\.ts)`|none)$/.exec(line);
    if (heading) {
      rows = [];
      found.set(heading[1] ?? `none ${found.size}`, rows);
    }
    const cells = /^\| `(.+?)` \| ([^|]*?) \| ([^|]*?) \|$/.exec(line);
    if (cells) rows.push({ name: cells[1]!, verdict: cells[2]!, why: cells[3]! });
  }
  return found;
}

/** The names of the tests in a file: calls of `it` with a name, and neither skipped nor from a table. */
function testsIn(file: string): string[] {
  const source = readFileSync(join(DIRECTORY, file), 'utf8');
  return [...source.matchAll(/^\s*it\(\s*(['"])((?:(?!\1).)+)\1,/gm)].map(([, , name]) => name!);
}

const OWN_NAME = basename(import.meta.filename);
const FILES = readdirSync(DIRECTORY).filter((each) => each.endsWith('.test.ts') && each !== OWN_NAME);

describe('the table of the tests of Kubernetes', () => {
  it('has a section for each test file', () => {
    expect([...sections().keys()].filter((key) => !key.startsWith('none')).sort()).toEqual(FILES.sort());
  });

  it('gives each case a known verdict, and a reason where Straddle is not the same', () => {
    for (const { name, verdict, why } of [...sections().values()].flat()) {
      expect(VERDICTS, name).toContain(verdict);
      if (verdict !== 'same') expect(why, name).not.toBe('');
    }
  });

  it('has no ported case in a section without a file', () => {
    for (const [key, rows] of sections())
      if (key.startsWith('none')) expect(rows.map(({ verdict }) => verdict)).toEqual(rows.map(() => 'not applicable'));
  });

  it.each(FILES)('has the tests of %s, and no others', (file) => {
    const ported = (sections().get(file) ?? []).filter(({ verdict }) => verdict !== 'not applicable');
    expect(ported.length).toBeGreaterThan(0);
    expect(testsIn(file).sort()).toEqual(ported.map(({ name }) => name).sort());
  });

  it.each(FILES)('knows no test of %s that does not run', (file) => {
    const source = readFileSync(join(DIRECTORY, file), 'utf8');
    expect(source).not.toMatch(/\b(?:it|describe)\.(?:skip|only|todo|each\(\[)|\bskipIf|\brunIf/);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from './unified-diff.js';

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const hasPatch = spawnSync('patch', ['--version']).status === 0;

describe('unifiedDiff', () => {
  it('shows three lines around each change', () => {
    const before = text(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']);
    const after = before.replace('b\n', 'B\n').replace('l\n', 'l\nm\n');
    expect(unifiedDiff('/x', before, after)).toBe(
      '--- /x\n+++ /x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -10,3 +10,4 @@\n j\n k\n l\n+m\n',
    );
  });

  it('shows a new file, a removed one and no change', () => {
    expect(unifiedDiff('/x', undefined, 'a\nb\n')).toBe('--- /dev/null\n+++ /x\n@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(unifiedDiff('/x', 'a\n', undefined)).toBe('--- /x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n');
    expect(unifiedDiff('/x', 'a\n', 'a\n')).toBe('--- /x\n+++ /x\n');
  });

  it.skipIf(!hasPatch)('is what patch(1) turns one text into the other with (skipped without patch)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'straddle-diff-'));
    const file = join(folder, 'x');
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });
    try {
      fc.assert(
        fc.property(lines, lines, (before, after) => {
          writeFileSync(file, text(before));
          const diff = unifiedDiff('/x', text(before), text(after));
          if (diff.includes('@@')) {
            const { status, stdout } = spawnSync('patch', ['-s', file], { input: diff, encoding: 'utf8' });
            expect([status, stdout]).toEqual([0, '']);
          }
          expect(readFileSync(file, 'utf8')).toBe(text(after));
        }),
        { numRuns: 40 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

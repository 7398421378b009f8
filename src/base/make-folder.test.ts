import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileProblem } from './file-problem.js';
import { makeFolder } from './make-folder.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-folder-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function problemOf(path: string): string {
  try {
    makeFolder(path);
  } catch (error) {
    return fileProblem(error);
  }
  return 'none';
}

describe('makeFolder', () => {
  it('makes the folders above too, for this user only, and leaves one that exists as it is', () => {
    makeFolder(join(dir, 'a', 'b', 'c'));
    expect(statSync(join(dir, 'a', 'b', 'c')).mode & 0o777).toBe(0o700);
    mkdirSync(join(dir, 'open'), { mode: 0o755 });
    makeFolder(join(dir, 'open'));
    expect(statSync(join(dir, 'open')).mode & 0o077).not.toBe(0);
  });

  it('throws if a file is in the way', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(problemOf(join(dir, 'file'))).toBe('file already exists, EEXIST');
    expect(problemOf(join(dir, 'file', 'below'))).toMatch(/^(not a directory, ENOTDIR|file already exists, EEXIST)$/);
  });

  it.skipIf(!existsSync('/proc/self'))(
    'throws where the system lets nobody make a folder, and does not try for ever',
    () => {
      expect(problemOf('/proc/nothing/below')).toBe('no such file or directory, ENOENT');
    },
  );
});

describe('fileProblem', () => {
  it('returns the code, or the message, where the system has no words', () => {
    expect(fileProblem(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
    expect(fileProblem(new Error('it is too large'))).toBe('it is too large');
  });
});

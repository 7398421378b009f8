import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type LockEntry, type LockFile, lockProblems } from '../../scripts/lock-integrity.js';

const HASH = `sha512-${'A'.repeat(86)}==`;
const lockOf = (entry: LockEntry): LockFile => ({
  packages: { '': {}, 'node_modules/a': { version: '1.0.0', ...entry } },
});

describe('the check of package-lock.json', () => {
  it('accepts an entry with a hash, and a link into the project', () => {
    expect(lockProblems(lockOf({ integrity: HASH }), [])).toEqual([]);
    expect(lockProblems(lockOf({ link: true }), [])).toEqual([]);
  });

  it.each<[string, LockEntry]>([
    ['without a hash', {}],
    ['with a weak hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['with a hash that is cut off', { integrity: HASH.slice(0, 40) }],
    ['with a registry', { integrity: HASH, resolved: 'https://packages.example/a.tgz' }],
  ])('refuses an entry %s', (_, entry) => {
    expect(lockProblems(lockOf(entry), [])).toHaveLength(1);
  });

  it('excepts only optional development tools that are listed and have no hash', () => {
    const listed = ['node_modules/a'];
    expect(lockProblems(lockOf({ dev: true, optional: true }), listed)).toEqual([]);
    expect(lockProblems(lockOf({ optional: true }), listed)).toHaveLength(1);
    expect(lockProblems(lockOf({ dev: true, optional: true, integrity: HASH }), listed)).toHaveLength(1);
    expect(lockProblems({ packages: {} }, listed)).toHaveLength(1);
  });

  it('finds no problem in the lock file of this project', () => {
    const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as LockFile;
    expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
    expect(lockProblems(lock)).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LockEntry, LockFile } from '../lock-integrity.js';
import { bundledPackages, directDependencies, type Platform, productionPackages } from './production-packages.js';

const PLATFORM: Platform = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const integrity = `sha512-${'A'.repeat(86)}==`;
const entry = (more: LockEntry = {}): LockEntry => ({ version: '1.0.0', integrity, ...more });
const real = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')) as LockFile;

const pathsOf = (packages: LockFile['packages'], platform = PLATFORM) =>
  productionPackages({ packages }, platform).map(({ path }) => path);

describe('the packages that are shipped', () => {
  it('are those that npm marks as no development tools, for the platform', () => {
    const fits = ({ os = ['linux'], cpu = ['x64'] }: LockEntry) => os.includes('linux') && cpu.includes('x64');
    const marked = Object.entries(real.packages).filter(([path, each]) => path !== '' && !each.dev && fits(each));
    expect(productionPackages(real, PLATFORM).map(({ path }) => path)).toEqual(marked.map(([path]) => path).sort());
  });

  it('have those whose code is in the page beside them', () => {
    const bundled = bundledPackages(real);
    expect(bundled.map(({ name }) => name)).toEqual(['preact', 'uplot']);
    for (const { path, version } of bundled) expect(real.packages[path]?.version).toBe(version);
    expect(() => bundledPackages({ packages: {} })).toThrow('node_modules/preact has no version');
  });

  it('have the native modules of another platform there', () => {
    const names = productionPackages(real, { ...PLATFORM, cpu: 'arm64' }).map(({ name }) => name);
    expect(names).toContain('@lmdb/lmdb-linux-arm64');
    expect(names).not.toContain('@lmdb/lmdb-linux-x64');
  });

  it('are found from the nearest node_modules upwards', () => {
    const packages = {
      '': { dependencies: { a: '1', b: '1' } },
      'node_modules/a': entry({ dependencies: { b: '2', c: '1' } }),
      'node_modules/a/node_modules/b': entry({ version: '2.0.0' }),
      'node_modules/b': entry(),
      'node_modules/c': entry(),
      'node_modules/unused': entry(),
    };
    expect(pathsOf(packages)).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/b',
      'node_modules/c',
    ]);
    expect(productionPackages({ packages }, PLATFORM)[0]?.dependencies).toEqual([
      'node_modules/a/node_modules/b',
      'node_modules/c',
    ]);
    expect(directDependencies({ packages }, PLATFORM)).toEqual(['node_modules/a', 'node_modules/b']);
  });

  it('leave out optional ones that are for other platforms or not there', () => {
    const packages = {
      '': { optionalDependencies: { mac: '1', musl: '1', notLinux: '1', gone: '1', fits: '1' } },
      'node_modules/mac': entry({ os: ['darwin'] }),
      'node_modules/musl': entry({ libc: ['musl'] }),
      'node_modules/notLinux': entry({ os: ['!linux'] }),
      'node_modules/fits': entry({ os: ['!win32'], cpu: ['x64', 'arm64'] }),
    };
    expect(pathsOf(packages)).toEqual(['node_modules/fits']);
  });

  it('are refused in a sentence if one is missing or has no hash', () => {
    expect(() => pathsOf({ '': { dependencies: { a: '1' } } })).toThrow('the project needs a, which is not there');
    expect(() => pathsOf({ '': { dependencies: { a: '1' } }, 'node_modules/a': { version: '1.0.0' } })).toThrow(
      'node_modules/a has no version or no integrity',
    );
  });
});

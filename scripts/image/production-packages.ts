import { readFileSync } from 'node:fs';
import type { LockEntry, LockFile } from '../lock-integrity.js';

/** An operating system and processor, as npm names them. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc: string;
}

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `node_modules/lmdb`: where npm installs it, and its key in the lock file. */
  readonly path: string;
  /** `sha512-…`, of the archive in the registry. */
  readonly integrity: string;
  /** SPDX expression, if the lock file has it. */
  readonly license: string | undefined;
  /** Paths of the packages that it uses, on this platform. */
  readonly dependencies: readonly string[];
}

const MODULES = 'node_modules/';

/** Returns the packages that the program needs at run time on a platform, sorted by path; development tools are not among them. */
export function productionPackages(lock: LockFile, platform: Platform): readonly LockedPackage[] {
  const found = new Map<string, LockedPackage>();
  const waiting = [...directDependencies(lock, platform)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const { version, integrity, license } = lock.packages[path]!;
    if (version === undefined || integrity === undefined) {
      throw new Error(
        `package-lock.json: ${path} has no version or no integrity; \`npm run lock -- --write\` adds what is missing.`,
      );
    }
    const dependencies = dependenciesOf(lock, path, platform);
    found.set(path, { name: nameOf(path), version, path, integrity, license, dependencies });
    waiting.push(...dependencies);
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the packages whose code `npm run build` puts into the page, so that they are shipped although npm does not install them. */
export function bundledPackages(lock: LockFile): readonly LockedPackage[] {
  const names = JSON.parse(readFileSync(new URL('../bundled-packages.json', import.meta.url), 'utf8')) as string[];
  return names.map((name) => {
    const path = `${MODULES}${name}`;
    const { version, integrity, license } = lock.packages[path] ?? {};
    if (version === undefined || integrity === undefined)
      throw new Error(`package-lock.json: ${path} has no version or no integrity, but its code is in the page.`);
    return { name, version, path, integrity, license, dependencies: [] };
  });
}

/** Paths of what the project itself depends on at run time. */
export function directDependencies(lock: LockFile, platform: Platform): readonly string[] {
  return dependenciesOf(lock, '', platform);
}

function dependenciesOf(lock: LockFile, path: string, platform: Platform): readonly string[] {
  const { dependencies = {}, optionalDependencies = {} } = lock.packages[path]!;
  const names = [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies)])];
  return names
    .flatMap((name) => {
      const found = resolve(lock, path, name);
      if (found !== undefined && fits(lock.packages[found]!, platform)) return [found];
      if (name in optionalDependencies) return [];
      throw new Error(
        `package-lock.json: ${path || 'the project'} needs ${name}, which is not there for this platform.`,
      );
    })
    .sort();
}

/** The nearest node_modules folder upwards counts, as for Node.js. */
function resolve(lock: LockFile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${MODULES}`)))) {
    const path = `${folder === '' ? '' : `${folder}/`}${MODULES}${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

function fits({ os, cpu, libc }: LockEntry, platform: Platform): boolean {
  const allows = (list: readonly string[] | undefined, value: string) =>
    list === undefined ||
    (list.some((each) => !each.startsWith('!')) ? list.includes(value) : !list.includes(`!${value}`));
  return allows(os, platform.os) && allows(cpu, platform.cpu) && allows(libc, platform.libc);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(MODULES) + MODULES.length);
}

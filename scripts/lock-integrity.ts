// Checks that npm can verify whatever it installs: each entry of package-lock.json has the hash of its package, and none
// names a registry. `--write` adds the hashes that the configured registry knows (`npm view`).
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly license?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Record<string, LockEntry>;
}

const FILE = new URL('../package-lock.json', import.meta.url);

/**
 * Development tools built for platforms whose packages the registry behind this lock file did not have. Never anything
 * that a user of Straddle installs. An entry goes once the package has a hash.
 */
const UNVERIFIED = [
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'win32-arm64', 'win32-x64'].map(
    (platform) => `node_modules/@biomejs/cli-${platform}`,
  ),
  ...[
    'android-arm-eabi',
    'android-arm64',
    'darwin-arm64',
    'darwin-x64',
    'freebsd-x64',
    'linux-arm-gnueabihf',
    'linux-ppc64-gnu',
    'linux-s390x-gnu',
    'openharmony-arm64',
    'wasm32-wasi',
    'win32-arm64-msvc',
    'win32-x64-msvc',
  ].map((platform) => `node_modules/@rolldown/binding-${platform}`),
];

/** Returns one line for each entry that npm could not verify. `unverified` are paths of entries that may lack a hash. */
export function lockProblems(lock: LockFile, unverified: readonly string[] = UNVERIFIED): string[] {
  const problems: string[] = [];
  for (const [path, entry] of packagesOf(lock)) {
    const isExcepted = unverified.includes(path);
    const hasHash = /^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '');
    if (entry.resolved !== undefined) problems.push(`${path}: names a registry (${entry.resolved})`);
    if (!hasHash && !isExcepted) problems.push(`${path}: has no sha512 integrity`);
    if (isExcepted && hasHash) problems.push(`${path}: has a hash now; remove it from UNVERIFIED`);
    if (isExcepted && !(entry.dev && entry.optional))
      problems.push(`${path}: only optional development tools are excepted`);
  }
  for (const path of unverified) {
    if (lock.packages[path] === undefined) problems.push(`${path}: is not in the lock file; remove it from UNVERIFIED`);
  }
  return problems;
}

/** All but the project itself and links into it. */
function packagesOf(lock: LockFile): [string, LockEntry][] {
  return Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !entry.link);
}

function addHashes(lock: LockFile): void {
  for (const [path, entry] of packagesOf(lock)) {
    if (entry.integrity !== undefined) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const hash = publishedHash(`${name}@${entry.version}`);
    if (hash === undefined) continue;
    const { version, ...rest } = entry;
    lock.packages[path] = { ...(version === undefined ? {} : { version }), integrity: hash, ...rest };
  }
}

function publishedHash(spec: string): string | undefined {
  try {
    return execFileSync('npm', ['view', spec, 'dist.integrity'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

function main(): void {
  const lock = JSON.parse(readFileSync(FILE, 'utf8')) as LockFile;
  if (process.argv.includes('--write')) {
    addHashes(lock);
    writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
  }
  const problems = lockProblems(lock);
  for (const problem of problems) console.error(`package-lock.json: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

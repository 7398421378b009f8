import { spawnSync } from 'node:child_process';

/** Debian keeps servers where only root looks. */
const SEARCHED = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;
/** Another program may hold the lock of dpkg meanwhile. */
const LOCK_SECONDS_MAX = 120;
const APT_MS_MAX = 300_000;

export function isInstalled(program: string): boolean {
  return pathOf(program) !== undefined;
}

/** Where the program is; says what to install where it is not. */
export function requireProgram(program: string, debianPackage: string): string {
  const path = pathOf(program);
  if (path === undefined) {
    throw new Error(`${program} is not installed; on Debian: apt-get install -y ${debianPackage}`);
  }
  return path;
}

/** Where the program is, after an installation if it is missing. Throws with the end of what apt-get said if that fails. */
export function installedProgram(program: string, debianPackage: string, progress: (line: string) => void): string {
  if (isInstalled(program)) return requireProgram(program, debianPackage);
  progress(`installing ${debianPackage}, which has ${program}`);
  let said = aptGet('install', '-y', '--no-install-recommends', debianPackage);
  if (said !== undefined) {
    said = aptGet('update') ?? aptGet('install', '-y', '--no-install-recommends', debianPackage);
  }
  if (said === undefined) return requireProgram(program, debianPackage);
  throw new Error(`${program} is missing, and apt-get cannot install ${debianPackage}:\n${said}`);
}

/** Returns undefined, or why it failed. */
function aptGet(...args: readonly string[]): string | undefined {
  const { status, error, stdout, stderr } = spawnSync(
    'apt-get',
    ['-o', `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`, ...args],
    // In runlevel 1 the scripts of packages start no servers.
    {
      encoding: 'utf8',
      timeout: APT_MS_MAX,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    },
  );
  if (status === 0) return undefined;
  return error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
}

function pathOf(program: string): string | undefined {
  const found = spawnSync('sh', ['-c', `command -v "$0"`, program], {
    encoding: 'utf8',
    env: { ...process.env, PATH: SEARCHED },
  });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

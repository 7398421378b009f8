import { spawnSync } from 'node:child_process';

/** Debian keeps servers where only root looks. */
const SEARCHED = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;

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

function pathOf(program: string): string | undefined {
  const found = spawnSync('sh', ['-c', `command -v "$0"`, program], {
    encoding: 'utf8',
    env: { ...process.env, PATH: SEARCHED },
  });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

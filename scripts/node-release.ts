import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir, isExecutable } from '../test/real/rig/binaries.js';

/** The Node.js releases that Straddle is tested on, oldest first, by major version. */
export const NODE_RELEASES: ReadonlyMap<string, string> = new Map([
  ['20', '20.20.2'],
  ['22', '22.23.3'],
  ['24', '24.21.0'],
  ['26', '26.10.0'],
]);

/** Returns the program of a release, installed into a cache outside the checkout from the npm package that has it. */
export function nodeProgram(major: string, say: (line: string) => void): string {
  const release = NODE_RELEASES.get(major);
  if (release === undefined) {
    throw new Error(`Node.js ${major} is not among the releases tested: ${[...NODE_RELEASES.keys()].join(', ')}`);
  }
  if (process.versions.node === release) return process.execPath;
  const folder = join(dirname(cacheDir()), `node-${release}`);
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (!isExecutable(program)) {
    say(`installing ${name}@${release} …`);
    install(`${name}@${release}`, folder);
  }
  return program;
}

/** Installs into a temporary folder first: an interrupted installation never looks like a finished one. */
function install(spec: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', unfinished, spec], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

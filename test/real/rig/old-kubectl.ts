import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryPath, cacheDir } from './binaries.js';
import type { ControlPlane } from './control-plane.js';

export interface OldKubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl 1.20 with a context of the rig's kubeconfig. */
export type OldKubectl = (
  options: { readonly context: string; readonly input?: object },
  ...args: string[]
) => Promise<OldKubectlResult>;

const PACKAGE = 'kubernetes-client';
const BINARY = 'kubectl-1.20';
const TIMEOUT_MS = 30_000;
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;

/** The kubectl that Debian 12 ships, from before aggregated discovery and OpenAPI v3. Fetched once, never installed. */
export function oldKubectl({ kubeconfig, dir }: ControlPlane): OldKubectl {
  ensureOldKubectl();
  return ({ context, input }, ...args) => {
    const connection = [`--kubeconfig=${kubeconfig}`, `--context=${context}`, `--cache-dir=${join(dir, BINARY)}`];
    return new Promise((resolve, reject) => {
      const child = execFile(
        binaryPath(BINARY),
        [...connection, ...args],
        { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
        (error, stdout, stderr) => {
          if (error === null) resolve({ code: 0, stdout, stderr });
          else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
          else reject(new Error(`kubectl 1.20 ${args.join(' ')} (${context}): ${error.message}`));
        },
      );
      child.stdin?.on('error', () => {});
      child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
    });
  };
}

/** What it says of itself: `1.20.2`. */
export function oldKubectlVersion(): string {
  ensureOldKubectl();
  const said = spawnSync(binaryPath(BINARY), ['version', '--client', '-o', 'json'], { encoding: 'utf8' }).stdout;
  const { clientVersion } = JSON.parse(said) as { clientVersion: { gitVersion: string } };
  return clientVersion.gitVersion.replace(/^v|[+-].*$/g, '');
}

function ensureOldKubectl(): void {
  if (existsSync(binaryPath(BINARY))) return;
  mkdirSync(cacheDir(), { recursive: true });
  const dir = mkdtempSync(join(tmpdir(), 'straddle-old-kubectl-'));
  try {
    // A fresh machine has no package lists, or old ones.
    if (spawnSync('apt-get', ['download', PACKAGE], { cwd: dir }).status !== 0) {
      runIn(dir, 'apt-get', 'update');
      runIn(dir, 'apt-get', 'download', PACKAGE);
    }
    const file = readdirSync(dir).find((name) => name.endsWith('.deb'));
    if (file === undefined) throw new Error(`apt-get download ${PACKAGE} left no package`);
    runIn(dir, 'dpkg', '--extract', file, 'unpacked');
    // The cache may lie on another file system, where a rename from here would fail.
    const unfinished = join(cacheDir(), `${BINARY}.${process.pid}.tmp`);
    runIn(dir, 'cp', join('unpacked', 'usr', 'bin', 'kubectl'), unfinished);
    renameSync(unfinished, join(cacheDir(), BINARY));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function runIn(cwd: string, command: string, ...args: string[]): void {
  const run = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (run.status === 0) return;
  const why = run.error?.message ?? run.stderr.trim();
  throw new Error(
    `kubectl 1.20 comes from Debian's package ${PACKAGE}, and \`${command} ${args[0]}\` failed: ${why}. ` +
      `Put that kubectl as ${BINARY} into the folder named by STRADDLE_REAL_BIN, or run on Debian 12.`,
  );
}

import { type SpawnSyncOptions, spawnSync } from 'node:child_process';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a program to its end and returns its standard output. Throws with what it printed if it fails. */
export function runProgram(program: string, args: readonly string[], options: SpawnSyncOptions = {}): string {
  const { error, status, signal, stdout, stderr } = spawnSync(program, args, {
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`${program} cannot be run: ${error.message}`);
  if (status !== 0) {
    const said = `${stderr ?? ''}${stdout ?? ''}`.trim().split('\n').slice(-15).join('\n');
    throw new Error(`${program} ${args.slice(0, 2).join(' ')} ended with ${signal ?? `code ${status}`}:\n${said}`);
  }
  return stdout ?? '';
}

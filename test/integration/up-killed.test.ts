import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isAlive, START_MS_MAX } from './straddle-process.js';

const ROOT = join(import.meta.dirname, '..', '..');
const PORT = 26_110 + (process.pid % 500) * 4;
const dir = mkdtempSync(join(tmpdir(), 'straddle-killed-'));
let up: ChildProcess;
const servers = (screen: string): number[] =>
  [...screen.matchAll(/^ +server-\d .* (\d+)$/gm)].map(([, pid]) => Number(pid));
let pids: number[] = [];

afterAll(() => {
  up?.kill('SIGKILL');
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

describe('straddle up', () => {
  it('leaves no server behind when it is killed by SIGKILL', async () => {
    const flags = [`--data-dir=${dir}`, `--port=${PORT}`, '--versions=1.36,1.37'];
    up = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'up', ...flags], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let screen = '';
    up.stdout!.on('data', (chunk: Buffer) => {
      screen += chunk.toString();
    });
    await expect.poll(() => servers(screen), { timeout: START_MS_MAX }).toHaveLength(2);
    pids = servers(screen);
    expect(pids.filter(isAlive)).toEqual(pids);
    up.kill('SIGKILL');
    await expect.poll(() => pids.filter(isAlive), { timeout: 20_000 }).toEqual([]);
  }, 120_000);
});

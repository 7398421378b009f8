import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { LogLine } from './control-plane.js';
import { eventually } from './control-plane.js';

/** From the sources, several processes of it, on a machine that has other things to do. */
export const START_MS_MAX = 60_000;
const ROOT = join(import.meta.dirname, '..', '..');

/** `straddle proxy` from the sources, as a process of its own. */
export class StraddleProcess {
  readonly log: LogLine[] = [];
  /** Output that is not a line of the log. */
  readonly said: string[] = [];
  readonly exit: Promise<number | string>;
  readonly #child: ChildProcess;

  constructor(flags: Readonly<Record<string, string>>) {
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    this.#child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), 'proxy', ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let rest = '';
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith('{')) this.log.push(JSON.parse(line) as LogLine);
        else this.said.push(line);
      }
    });
    this.exit = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve(signal ?? code ?? -1)));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The port, once it serves. */
  async port(): Promise<number> {
    const line = await eventually(
      'the program serving',
      () => this.log.find(({ msg }) => msg === 'serving') ?? (this.#child.exitCode === null ? undefined : 'ended'),
      (found) => found !== undefined,
      START_MS_MAX,
    );
    if (line === 'ended') throw new Error(`straddle ended: ${this.said.join('\n')}`);
    return (line as LogLine)['port'] as number;
  }

  /** Process ids of the workers that serve, by their numbers: of each the last one. */
  workers(): Map<number, number> {
    const lines = this.log.filter(({ msg }) => msg === 'a worker serves');
    return new Map(lines.map((line) => [line['worker'] as number, line['pid'] as number]));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

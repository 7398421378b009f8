import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLine } from '../integration/control-plane.js';
import { eventually } from '../integration/control-plane.js';

const START_MS_MAX = 60_000;
const DEFAULT_PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'straddle.js');

/** The built program as a process of its own; `STRADDLE_PROGRAM` names another build. */
export class Program {
  readonly log: LogLine[] = [];
  readonly #child: ChildProcess;
  readonly #exit: Promise<void>;
  readonly #errors: string[] = [];

  constructor(command: 'proxy' | 'apiserver', flags: Readonly<Record<string, string>>) {
    const program = process.env['STRADDLE_PROGRAM'] ?? DEFAULT_PROGRAM;
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    this.#child = spawn(process.execPath, [program, command, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let rest = '';
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith('{')) this.log.push(JSON.parse(line) as LogLine);
        else this.#errors.push(line);
      }
    });
    this.#exit = new Promise((resolve) => this.#child.once('close', () => resolve()));
  }

  /** The port, once it serves. */
  async port(): Promise<number> {
    const look = () =>
      this.log.find(({ msg }) => msg === 'serving') ?? (this.#child.exitCode === null ? undefined : 'ended');
    const line = await eventually('the program serving', look, (found) => found !== undefined, START_MS_MAX);
    if (line === 'ended') throw new Error(`the program ended: ${this.#errors.join('\n')}`);
    return (line as LogLine)['port'] as number;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  residentBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}

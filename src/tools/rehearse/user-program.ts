import { spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.js';
import type { HalfRecord } from './half-record.js';
import { repeat } from './pause.js';

export interface UserProgramOptions {
  readonly command: string;
  readonly kubeconfig: string;
  readonly record: HalfRecord;
  readonly clock: Clock;
}

const BETWEEN_MS = 1_000;
const RUN_MS_MAX = 10 * 60_000;
/** Time for the last run to finish by itself. */
const LAST_RUN_MS_MAX = 60_000;
const OUTPUT_CHARS_MAX = 4_000;
const OUTPUT_LINES = 20;
/** The exit code of a shell for a program ended by SIGKILL. */
const KILLED = 137;

/** The program of the user (`--exec`), run again and again while the control plane is rolled. */
export class UserProgram {
  readonly #options: UserProgramOptions;
  readonly #stop = new AbortController();
  #killAtMs = Number.POSITIVE_INFINITY;
  #done: Promise<void> = Promise.resolve();

  constructor(options: UserProgramOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = repeat(this.#options.clock, BETWEEN_MS, this.#stop.signal, () => this.#once());
  }

  /** Starts no new run, and waits for the current one up to LAST_RUN_MS_MAX. */
  stop(): Promise<void> {
    return this.#endBy(this.#options.clock.nowMs() + LAST_RUN_MS_MAX);
  }

  /** Ends the current run too. */
  kill(): Promise<void> {
    return this.#endBy(0);
  }

  async #endBy(killAtMs: number): Promise<void> {
    this.#killAtMs = killAtMs;
    this.#stop.abort();
    await this.#done;
  }

  #once(): Promise<void> {
    const { command, kubeconfig, record, clock } = this.#options;
    const beginMs = record.nowMs();
    const deadlineMs = clock.nowMs() + RUN_MS_MAX;
    // A process group of its own, so that its children end with it.
    const child = spawn(command, {
      shell: true,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, KUBECONFIG: kubeconfig },
    });
    let output = '';
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const watchdog = setInterval(() => {
      if (clock.nowMs() > Math.min(deadlineMs, this.#killAtMs)) killGroup(child.pid);
    }, 250);
    return new Promise((resolve) => {
      const end = (exitCode: number, more = ''): void => {
        clearInterval(watchdog);
        const lines = (output + more).trimEnd().split('\n').slice(-OUTPUT_LINES);
        record.exec({ beginMs, endMs: record.nowMs(), exitCode, output: lines.join('\n') });
        resolve();
      };
      child.once('error', (error) => end(KILLED, error.message));
      child.once('close', (code) => end(code ?? KILLED));
    });
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

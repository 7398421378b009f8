import { spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.js';
import type { HalfRecord } from './half-record.js';
import { pause } from './pause.js';

export interface UserProgramOptions {
  readonly command: string;
  readonly kubeconfig: string;
  readonly record: HalfRecord;
  readonly clock: Clock;
}

const BETWEEN_MS = 1_000;
const RUN_MS_MAX = 10 * 60_000;
/** At the end a run gets this long to finish by itself. */
const LAST_RUN_MS_MAX = 60_000;
const OUTPUT_CHARS_MAX = 4_000;
const OUTPUT_LINES = 20;
/** What a shell reports for a program that was ended by a signal. */
const KILLED = 137;

/** The user's own client, run again and again while the control plane is rolled. */
export class UserProgram {
  readonly #options: UserProgramOptions;
  readonly #stop = new AbortController();
  #killAtMs = Number.POSITIVE_INFINITY;
  #done: Promise<void> = Promise.resolve();

  constructor(options: UserProgramOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Starts no new run, and waits for the one that is under way, but not for ever. */
  async stop(): Promise<void> {
    this.#killAtMs = this.#options.clock.nowMs() + LAST_RUN_MS_MAX;
    this.#stop.abort();
    await this.#done;
  }

  /** Ends the run that is under way too. */
  async kill(): Promise<void> {
    this.#killAtMs = 0;
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      await this.#once();
      await pause(clock, BETWEEN_MS, this.#stop.signal);
    }
  }

  #once(): Promise<void> {
    const { command, kubeconfig, record, clock } = this.#options;
    const beginMs = record.nowMs();
    const deadlineMs = clock.nowMs() + RUN_MS_MAX;
    // A group of its own, so that what it started ends with it.
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
    // It has just ended by itself.
  }
}

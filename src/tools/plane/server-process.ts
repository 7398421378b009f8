import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface ServerProcessOptions {
  readonly name: string;
  /** Node's own arguments, the program and its arguments. */
  readonly command: readonly string[];
  readonly logFile: string;
}

const STOP_MS_MAX = 15_000;

/** Those of this process. Whatever way it ends, but for a SIGKILL of its own, they end with it. */
const running = new Set<ServerProcess>();

function endWithThisProcess(started: ServerProcess): void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(started);
}

function hasEnded(ended: ServerProcess): void {
  running.delete(ended);
  if (running.size === 0) process.off('exit', killAll);
}

function killAll(): void {
  for (const each of running) each.kill();
}

/** One API server in a process of its own. */
export class ServerProcess {
  readonly name: string;
  /** Resolves with what ended it. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #isRunning = true;

  constructor({ name, command, logFile }: ServerProcessOptions) {
    this.name = name;
    const log = openSync(logFile, 'a', 0o600);
    // A group of its own: Ctrl-C at the terminal must not reach it before everything is stopped in order.
    this.#child = spawn(process.execPath, command, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    endWithThisProcess(this);
    this.ended = new Promise((resolve) => {
      const end = (why: string): void => {
        this.#isRunning = false;
        hasEnded(this);
        resolve(why);
      };
      this.#child.once('error', (error) => end(error.message));
      this.#child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `${signal}`));
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** SIGTERM, and SIGKILL if that takes too long. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.ended;
    clearTimeout(timer);
  }

  /** The last resort of a parent that must end now. */
  kill(): void {
    if (this.#isRunning) this.#child.kill('SIGKILL');
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ServerProcessOptions {
  /** Arguments of Node.js, the program and its arguments. */
  readonly command: readonly string[];
  readonly logFile: string;
}

const STOP_MS_MAX = 15_000;
/** In the environment of a server process: it stops, as by SIGTERM, when its channel to its parent is closed. */
export const ENDS_WITH_PARENT = 'STRADDLE_ENDS_WITH_PARENT';

/** Processes that this one started. They end with it, however it ends: by SIGKILL they notice that their channel is closed. */
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
  /** Resolves with the exit code, signal or error that ended it. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #isRunning = true;

  constructor({ command, logFile }: ServerProcessOptions) {
    const log = openSync(logFile, 'a', 0o600);
    // A separate process group: Ctrl-C must not reach it before everything stops in order.
    this.#child = spawn(process.execPath, command, {
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
      env: { ...process.env, [ENDS_WITH_PARENT]: '1' },
    });
    // Its end is what matters: nothing is sent, and it must not keep this process alive.
    this.#child.channel?.unref();
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

  /** Sends SIGTERM, and SIGKILL after STOP_MS_MAX. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.ended;
    clearTimeout(timer);
  }

  /** Ends the process at once, because its parent exits. */
  kill(): void {
    if (this.#isRunning) this.#child.kill('SIGKILL');
  }
}

const LOG_LINES = 5;

/** Returns the last lines of a log, for the message of an error. */
export function lastLines(logFile: string): string {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}

import type { Clock } from '../../base/clock.js';
import type { Destination } from '../../http/outgoing.js';
import type { Member } from './member.js';
import { lastLines, ServerProcess } from './server-process.js';
import { untilReady } from './until-ready.js';

export interface ProcessMemberOptions {
  readonly name: string;
  readonly version: string;
  readonly destination: Destination;
  readonly logFile: string;
  /** Arguments of Node.js, the program and its arguments. */
  readonly command: (version: string) => readonly string[];
  /** Called each time the server has become ready. */
  readonly onReady: (version: string) => Promise<void>;
  /** Whether a process that ends unexpectedly is started again, as a kubelet does. */
  readonly restart: boolean;
  /** Reports an unexpected end, and the restart after it. */
  readonly note: (sentence: string) => void;
  readonly clock: Clock;
}

const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 30_000;
/** Time after which the delay of restarts begins at its minimum again. */
const RECOVERED_MS = 60_000;

/** A server in a process of its own. */
export class ProcessMember implements Member {
  readonly name: string;
  readonly address: string;
  readonly destination: Destination;
  readonly #options: ProcessMemberOptions;
  #version: string;
  #process: ServerProcess | undefined;
  #restartMs = RESTART_MS_MIN;
  #cancelRestart: () => void = () => {};

  constructor(options: ProcessMemberOptions) {
    this.name = options.name;
    this.address = options.destination.address;
    this.destination = options.destination;
    this.#options = options;
    this.#version = options.version;
  }

  get version(): string {
    return this.#version;
  }

  get pid(): number | undefined {
    return this.#process?.isRunning ? this.#process.pid : undefined;
  }

  async start(): Promise<void> {
    const { name, logFile, command, destination, onReady } = this.#options;
    const started = new ServerProcess({ command: command(this.#version), logFile });
    this.#process = started;
    try {
      await untilReady(destination, {
        name,
        check: () => {
          if (!started.isRunning) throw new Error(`${name} could not start: ${lastLines(logFile)}`);
        },
        hint: `log: ${logFile}`,
      });
      await onReady(this.#version);
    } catch (error) {
      await started.stop();
      throw error;
    }
    void this.#watchOver(started);
  }

  async replace(version: string): Promise<void> {
    const before = this.#version;
    await this.stop();
    this.#version = version;
    try {
      await this.start();
    } catch (error) {
      this.#version = before;
      const back = await this.start().then(
        () => `${this.name} runs ${before} again`,
        (again: Error) => `${before} did not come back either: ${again.message}`,
      );
      throw new Error(`${(error as Error).message}; ${back}`);
    }
  }

  async stop(): Promise<void> {
    this.#cancelRestart();
    const running = this.#process;
    this.#process = undefined;
    await running?.stop();
    this.destination.abandonWaiting(`${this.name} was stopped`);
  }

  async #watchOver(running: ServerProcess): Promise<void> {
    const beganMs = performance.now();
    const why = await running.ended;
    if (this.#process !== running) return;
    if (performance.now() - beganMs > RECOVERED_MS) this.#restartMs = RESTART_MS_MIN;
    const sentence = `${this.name} ended: ${why} (log: ${this.#options.logFile})`;
    if (this.#options.restart) this.#restartLater(sentence);
    else this.#options.note(sentence);
  }

  #restartLater(why: string): void {
    const { note, clock } = this.#options;
    const waitMs = this.#restartMs;
    this.#restartMs = Math.min(waitMs * 2, RESTART_MS_MAX);
    note(`${why}; it is started again in ${waitMs / 1000} s`);
    const asked = this.#process;
    this.#cancelRestart = clock.after(waitMs, () => {
      if (this.#process !== asked) return;
      this.start().then(
        () => note(`${this.name} is back (process ${this.pid})`),
        (error: Error) => {
          const stoppedMeanwhile = this.#process === undefined;
          if (!stoppedMeanwhile) this.#restartLater(error.message);
        },
      );
    });
  }
}

import { readFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import type { Destination } from '../../http/outgoing.js';
import type { Member } from './member.js';
import { ServerProcess } from './server-process.js';
import { untilReady } from './until-ready.js';

export interface ProcessMemberOptions {
  readonly name: string;
  readonly version: string;
  readonly destination: Destination;
  readonly logFile: string;
  /** Node's own arguments, the program and its arguments. */
  readonly command: (version: string) => readonly string[];
  /** Called each time it has become ready. */
  readonly onReady: (version: string) => Promise<void>;
  /** A process that ends without having been asked is started again, as a kubelet would. */
  readonly restart: boolean;
  /** Says what happens to it without having been asked. */
  readonly note: (sentence: string) => void;
  readonly clock: Clock;
}

const LOG_LINES = 5;
const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 30_000;
/** Up for so long, it has recovered: its next end is not the consequence of the last one. */
const RECOVERED_MS = 60_000;

/** A server in a process of its own. */
export class ProcessMember implements Member {
  readonly #options: ProcessMemberOptions;
  #version: string;
  #process: ServerProcess | undefined;
  #restartMs = RESTART_MS_MIN;
  #cancelRestart: () => void = () => {};

  constructor(options: ProcessMemberOptions) {
    this.#options = options;
    this.#version = options.version;
  }

  get name(): string {
    return this.#options.name;
  }

  get version(): string {
    return this.#version;
  }

  get address(): string {
    return this.#options.destination.address;
  }

  get destination(): Destination {
    return this.#options.destination;
  }

  get pid(): number | undefined {
    return this.#process?.isRunning ? this.#process.pid : undefined;
  }

  async start(): Promise<void> {
    const { name, logFile, command, destination, onReady } = this.#options;
    const started = new ServerProcess({ name, command: command(this.#version), logFile });
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
    const { destination } = this.#options;
    const running = this.#process;
    this.#process = undefined;
    await running?.stop();
    destination.abandonWaiting(`${this.name} was stopped`);
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

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Destination } from '../../http/outgoing.js';
import type { Member } from './member.js';
import { askServer } from './plane-client.js';
import { type ReadyOptions, untilAnswersItself, untilReady } from './until-ready.js';

export interface UpstreamMemberOptions {
  readonly name: string;
  /** As the roll command is told it. */
  readonly url: string;
  /** The API server itself. */
  readonly upstream: Destination;
  /** What stands before it; undefined: nothing does. */
  readonly sidecar: Member | undefined;
  /**
   * A shell command that brings the API server to the version in `STRADDLE_VERSION`, and returns when it is up. It is told
   * `STRADDLE_SERVER` (its name here) and `STRADDLE_UPSTREAM` (its URL).
   */
  readonly rollCommand: string | undefined;
  /** What that command says. */
  readonly logFile: string;
}

/** A server that is there answers at once; one that is not should be said soon. */
export const THERE_MS_MAX = 5_000;
const ROLL_MS_MAX = 15 * 60_000;
const LOG_LINES = 5;

/** A real API server that somebody else runs, and the sidecar before it. */
export class UpstreamMember implements Member {
  readonly #options: UpstreamMemberOptions;
  #version = '';

  constructor(options: UpstreamMemberOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get version(): string {
    return this.#version;
  }

  get destination(): Destination {
    return this.#options.sidecar?.destination ?? this.#options.upstream;
  }

  /** The API server itself. */
  get upstream(): Destination {
    return this.#options.upstream;
  }

  get address(): string {
    return this.destination.address;
  }

  get pid(): number | undefined {
    return this.#options.sidecar?.pid;
  }

  async start(): Promise<void> {
    await this.look(THERE_MS_MAX);
    await this.#options.sidecar?.start();
  }

  async replace(version: string): Promise<void> {
    const before = this.#version;
    this.#version = version;
    try {
      await this.#rollUpstream(version);
      await this.look();
    } catch (error) {
      this.#version = before;
      throw error;
    }
    if (this.#version !== version)
      throw new Error(`${this.name} runs ${this.#version}, not ${version}, after the roll command has ended.`);
    await untilReady(this.destination, this.#readyOptions());
    await untilAnswersItself(this.destination, this.#readyOptions());
  }

  async stop(): Promise<void> {
    await this.#options.sidecar?.stop();
    await this.#options.upstream.close();
  }

  /** Waits until the API server is up, and asks which version it is. */
  async look(limitMs?: number): Promise<void> {
    const { upstream } = this.#options;
    await untilReady(upstream, this.#readyOptions(limitMs));
    const { status, body } = await askServer(upstream, 'GET', '/version');
    const [, minor] = /^v?(\d+\.\d+)/.exec(String(body['gitVersion'])) ?? [];
    if (status !== 200 || minor === undefined)
      throw new Error(`${this.#options.url} does not tell its version: is it an API server?`);
    this.#version = minor;
  }

  #readyOptions(limitMs?: number): ReadyOptions {
    const { name, url } = this.#options;
    return {
      name: `${name} (${url})`,
      check: () => {},
      hint: 'is it up, and are its certificates those of --pki-dir?',
      ...(limitMs === undefined ? {} : { limitMs }),
    };
  }

  #rollUpstream(version: string): Promise<void> {
    const { name, url, rollCommand, logFile } = this.#options;
    if (rollCommand === undefined)
      throw new Error(`How ${name} (${url}) is brought to ${version} is not known: give --roll-command.`);
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(rollCommand, {
      shell: true,
      stdio: ['ignore', log, log],
      timeout: ROLL_MS_MAX,
      env: { ...process.env, STRADDLE_SERVER: name, STRADDLE_UPSTREAM: url, STRADDLE_VERSION: version },
    });
    closeSync(log);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code === 0) return resolve();
        const said = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
        reject(new Error(`the roll command for ${name} ended with ${signal ?? `exit code ${code}`}: ${said}`));
      });
    });
  }
}

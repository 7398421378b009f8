import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Destination } from '../../http/outgoing.js';
import type { Member } from './member.js';
import { askServer } from './plane-client.js';
import { lastLines } from './server-process.js';
import { type ReadyOptions, untilAnswersItself, untilReady } from './until-ready.js';

export interface UpstreamMemberOptions {
  readonly name: string;
  /** URL of the API server, for the roll command. */
  readonly url: string;
  /** The API server itself. */
  readonly upstream: Destination;
  /** The Straddle before the API server; undefined for none. */
  readonly sidecar: Member | undefined;
  /**
   * A shell command that brings the API server to the version in `STRADDLE_VERSION` and exits when it is up. Its
   * environment has `STRADDLE_SERVER` (the name of this member) and `STRADDLE_UPSTREAM` (the URL).
   */
  readonly rollCommand: string | undefined;
  /** Output of the roll command. */
  readonly logFile: string;
}

/** Timeout at the start, where the API server is expected to run already. */
export const THERE_MS_MAX = 5_000;
const ROLL_MS_MAX = 15 * 60_000;

/** An API server that this program does not run, and the sidecar before it. */
export class UpstreamMember implements Member {
  readonly name: string;
  readonly address: string;
  readonly destination: Destination;
  /** The API server itself. */
  readonly upstream: Destination;
  readonly #options: UpstreamMemberOptions;
  #version = '';

  constructor(options: UpstreamMemberOptions) {
    this.name = options.name;
    this.upstream = options.upstream;
    this.destination = options.sidecar?.destination ?? options.upstream;
    this.address = this.destination.address;
    this.#options = options;
  }

  get version(): string {
    return this.#version;
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
    await this.upstream.close();
  }

  /** Waits until the API server is ready, and reads its version. */
  async look(limitMs?: number): Promise<void> {
    await untilReady(this.upstream, this.#readyOptions(limitMs));
    const { status, body } = await askServer(this.upstream, 'GET', '/version');
    const [, minor] = /^v?(\d+\.\d+)/.exec(String(body['gitVersion'])) ?? [];
    if (status !== 200 || minor === undefined)
      throw new Error(`${this.#options.url} does not tell its version: is it an API server?`);
    this.#version = minor;
  }

  #readyOptions(limitMs?: number): ReadyOptions {
    const { name, url } = this.#options;
    return {
      name: `${name} (${url})`,
      hint: 'is it up, and are its certificates those of --pki-dir?',
      limitMs,
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
        const how = signal ?? `exit code ${code}`;
        reject(new Error(`the roll command for ${name} ended with ${how}: ${lastLines(logFile)}`));
      });
    });
  }
}

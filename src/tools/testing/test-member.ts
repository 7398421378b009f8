import type { Logger } from '../../base/logger.js';
import type { ApiServerConfig } from '../../compose/config/api-server-config.js';
import { startApiServer } from '../../compose/start-api-server.js';
import type { InProcessServer } from '../../compose/start-server.js';
import type { Network } from './network.js';
import type { ControlPlaneServer } from './test-control-plane.js';

export interface MemberOptions {
  readonly name: string;
  readonly version: string;
  /** host:port, the same whatever version runs there. */
  readonly address: string;
  readonly configOf: (version: string) => ApiServerConfig;
  readonly network: Network;
  /** Each run has a logger of its own, so that one that was killed says nothing more. */
  readonly makeLogger: () => { readonly logger: Logger; mute(): void };
  /** The load balancer asks everyone how they are; resolves when their answers count. */
  readonly lookAround: () => Promise<void>;
}

interface Run {
  readonly server: InProcessServer;
  mute(): void;
}

/** One API server and the place where it stands. One change at a time: whoever comes later waits. */
export class Member implements ControlPlaneServer {
  readonly #options: MemberOptions;
  #version: string;
  #run: Run | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#version = options.version;
  }

  get name(): string {
    return this.#options.name;
  }

  get address(): string {
    return this.#options.address;
  }

  get url(): string {
    return `https://${this.#options.address}`;
  }

  get version(): string {
    return this.#version;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  get running(): InProcessServer | undefined {
    return this.#run?.server;
  }

  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** In that version afterwards, whether it ran before or not. */
  replace(version: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#run && this.#version === version) return;
      await this.#stop();
      this.#version = version;
      await this.#start();
    });
  }

  kill(): Promise<void> {
    return this.#inTurn(async () => {
      const run = this.#run;
      if (!run) return;
      this.#run = undefined;
      run.mute();
      this.#options.network.silence(this.name);
      await run.server.abort();
    });
  }

  /** For good. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#inTurn(() => this.#stop());
  }

  async #start(): Promise<void> {
    if (this.#run) return;
    if (this.#closed) throw new Error(`${this.name} cannot start: the control plane was closed.`);
    const { configOf, network, makeLogger } = this.#options;
    const { logger, mute } = makeLogger();
    network.unsilence(this.name);
    const reach = network.reachFrom(this.name);
    this.#run = { server: await startApiServer(configOf(this.#version), { logger, reach }), mute };
  }

  async #stop(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    const closing = run.server.close();
    // It says that it goes and still serves for a moment: whoever balances must know before its port is closed.
    if (!this.#closed) await this.#options.lookAround();
    await closing;
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(change);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

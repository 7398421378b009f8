import type { Logger } from '../../base/logger.js';
import type { ApiServerConfig } from '../../compose/config/api-server-config.js';
import { startApiServer } from '../../compose/start-api-server.js';
import type { InProcessServer } from '../../compose/start-server.js';
import type { Filter } from '../../http/exchange.js';
import type { Destination } from '../../http/outgoing.js';
import type { Network } from './network.js';
import type { ControlPlaneServer } from './test-control-plane.js';

export interface TestMemberOptions {
  readonly name: string;
  readonly version: string;
  /** host:port, the same for every version. */
  readonly address: string;
  readonly configOf: (version: string) => ApiServerConfig;
  readonly network: Network;
  /** The way of this library to the server, past the network. */
  readonly destination: Destination;
  /** Sees the requests of clients. */
  readonly intercept: Filter;
  /** Makes the logger of one run; a killed server is muted. */
  readonly makeLogger: () => { readonly logger: Logger; mute(): void };
  /** Makes the load balancer probe all servers; resolves when the results are in effect. */
  readonly lookAround: () => Promise<void>;
}

interface Run {
  readonly server: InProcessServer;
  mute(): void;
}

/** One API server at a fixed address. Changes are done one at a time, in the order of the calls. */
export class TestMember implements ControlPlaneServer {
  readonly name: string;
  readonly address: string;
  readonly url: string;
  readonly destination: Destination;
  readonly #options: TestMemberOptions;
  #version: string;
  #run: Run | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: TestMemberOptions) {
    this.name = options.name;
    this.address = options.address;
    this.url = `https://${options.address}`;
    this.destination = options.destination;
    this.#options = options;
    this.#version = options.version;
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

  /** Runs the version afterwards, whether the server ran before or not. */
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
    return this.#inTurn(async () => {
      await this.#stop();
      await this.destination.close();
    });
  }

  async #start(): Promise<void> {
    if (this.#run) return;
    if (this.#closed) throw new Error(`${this.name} cannot start: the control plane was closed.`);
    const { configOf, network, makeLogger, intercept } = this.#options;
    const { logger, mute } = makeLogger();
    network.unsilence(this.name);
    const reach = network.reachFrom(this.name);
    this.#run = { server: await startApiServer(configOf(this.#version), { logger, reach, intercept }), mute };
  }

  async #stop(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    const closing = run.server.close();
    // The load balancer must notice that the server is not ready before its port is closed.
    if (!this.#closed) await this.#options.lookAround();
    await closing;
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(change);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

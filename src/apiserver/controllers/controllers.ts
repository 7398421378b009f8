import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import type { ApiClient } from '../../kube/client/api-client.js';
import type { Controller, ControllerOptions } from './controller.js';
import { DefaultServiceAccounts } from './default-service-account.js';
import { fenced } from './fenced-client.js';
import { GarbageCollector } from './garbage-collector.js';
import { type LEADER_TIMINGS, LeaderElection } from './leader-election.js';
import { NamespaceController } from './namespace-controller.js';
import { CatalogueReader } from './resource-catalogue.js';

export const CONTROLLER_NAMES = ['namespace', 'garbagecollector', 'serviceaccount'] as const;
export type ControllerName = (typeof CONTROLLER_NAMES)[number];

export interface ControllersOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly serverName: string;
  readonly enabled: readonly ControllerName[];
  readonly rootCaPem: string | undefined;
  /** Returns true once the other servers are known: before that, an absence proves nothing. */
  readonly isReady: () => boolean;
  readonly leaderTimings?: Partial<typeof LEADER_TIMINGS>;
}

const READY_POLL_MS = 100;

/** Joins the leader election once the server is ready; runs the controllers as the leader. */
export class Controllers {
  readonly #options: ControllersOptions;
  readonly #election: LeaderElection;
  #term: readonly Controller[] = [];
  /** Serializes terms: none begins before the last has ended. */
  #turn: Promise<void> = Promise.resolve();
  #cancelPoll = () => {};
  #closed = false;

  constructor(options: ControllersOptions) {
    const { client, clock, logger, serverName } = options;
    this.#options = options;
    this.#election = new LeaderElection({
      client,
      clock,
      logger,
      serverName,
      onGained: () => this.#begin(),
      onLost: () => this.#end(),
      ...(options.leaderTimings === undefined ? {} : { timings: options.leaderTimings }),
    });
  }

  get isLeader(): boolean {
    return this.#election.isHeld();
  }

  start(): void {
    if (this.#closed) return;
    if (this.#options.isReady()) this.#election.start();
    else this.#cancelPoll = this.#options.clock.after(READY_POLL_MS, () => this.start());
  }

  /** Ends the controllers, then releases the lease. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll();
    this.#end();
    await this.#turn;
    await this.#election.close();
  }

  #begin(): void {
    this.#options.metrics.controllersLeader.labels().set(1);
    this.#turn = this.#turn.then(() => {
      if (!this.#closed && this.#election.isHeld()) this.#term = this.#startAll();
    });
  }

  #end(): void {
    this.#options.metrics.controllersLeader.labels().set(0);
    this.#turn = this.#turn.then(async () => {
      const ending = this.#term;
      this.#term = [];
      const results = await Promise.allSettled(ending.map((each) => each.close()));
      for (const each of results) {
        if (each.status === 'rejected')
          this.#options.logger.error('a controller did not end well', { error: each.reason });
      }
    });
  }

  #startAll(): Controller[] {
    const { clock, logger, metrics, enabled, rootCaPem } = this.#options;
    const client = fenced(this.#options.client, () => this.#election.isHeld());
    const options: ControllerOptions = { client, reader: new CatalogueReader(client), clock, logger, metrics };
    const make: Record<ControllerName, () => Controller> = {
      namespace: () => new NamespaceController(options),
      garbagecollector: () => new GarbageCollector(options),
      serviceaccount: () => new DefaultServiceAccounts({ ...options, rootCaPem }),
    };
    return enabled.map((name) => make[name]());
  }
}

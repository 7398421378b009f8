import type { Clock } from '../../base/clock.js';
import { CONFIG_MAPS, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { ApiConnection } from './api-connection.js';
import type { HalfRecord } from './half-record.js';
import { LoadClient, type SkewedLoad } from './load-client.js';
import type { LoadOptions } from './rehearsal-options.js';
import type { ApiAccess } from './rehearsal-plane.js';
import type { ServedTruth } from './served-truth.js';
import { Watching } from './watching.js';

export interface LoadSurroundings {
  readonly front: ApiAccess;
  readonly namespace: string;
  readonly truth: ServedTruth;
  readonly record: HalfRecord;
  readonly clock: Clock;
  readonly others: readonly string[];
}

/** Watches of the resource that all servers serve, and of all skewed ones together, at least one of each. */
const WATCHES = 3;
const TICK_MS = 20;

/** All clients of one half, with separate connections. They send at a constant rate. */
export class Load {
  readonly #options: LoadOptions;
  readonly #within: LoadSurroundings;
  readonly #connections: ApiConnection[] = [];
  readonly #clients: LoadClient[];
  /** By key of the resource. Each receives the events of all writes. */
  readonly #watches = new Map<string, Watching[]>();
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;

  constructor(options: LoadOptions, within: LoadSurroundings) {
    this.#options = options;
    this.#within = within;
    this.#clients = Array.from({ length: options.clients }, (_, index) => {
      const onWrite = ({ key }: ResourceKind, resourceVersion: string): void => {
        for (const watch of this.#watches.get(key) ?? []) watch.expect(resourceVersion);
      };
      return new LoadClient({ ...within, name: `client-${index + 1}`, api: this.#connect(), onWrite }, index);
    });
  }

  start(): void {
    this.#watch(CONFIG_MAPS, WATCHES, () => true);
    const beganMs = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - beganMs) / 1_000) * this.#options.requestsPerSecond);
      for (; this.#sent < due; this.#sent++) this.#clients[this.#sent % this.#clients.length]!.step();
    }, TICK_MS);
  }

  /** Begins requests and watches of the skewed resources. */
  begin(skewed: SkewedLoad): void {
    const { resources } = skewed;
    for (const client of this.#clients) client.begin(skewed);
    const each = Math.ceil(WATCHES / Math.max(1, resources.length));
    for (const { kind } of resources) this.#watch(kind, each, () => this.#within.truth.serves(kind.key));
  }

  /** Ends requests for skewed resources; resolves when none is in flight. */
  async retire(): Promise<void> {
    for (const client of this.#clients) client.retire();
    await Promise.all(this.#clients.map((client) => client.rest()));
  }

  /** Ends the load; resolves when no request is in flight. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#clients.map((client) => client.rest()));
    await Promise.all([...this.#watches.values()].flat().map((watch) => watch.stop()));
    for (const each of this.#connections) each.close();
  }

  #watch(kind: ResourceKind, count: number, isServed: () => boolean): void {
    const { record, clock, namespace } = this.#within;
    const collection = pathOf(kind, namespace);
    const watches = Array.from({ length: count }, (_, index) => {
      const who = `watcher-${index + 1}`;
      return new Watching({ who, api: this.#connect(), collection, isServed, record, clock });
    });
    this.#watches.set(kind.key, watches);
    for (const watch of watches) watch.start();
  }

  #connect(): ApiConnection {
    const connection = new ApiConnection(this.#within.front);
    this.#connections.push(connection);
    return connection;
  }
}

import type { Clock } from '../../base/clock.js';
import { CONFIG_MAPS, pathOf } from '../../kube/resource-kind.js';
import { ApiConnection } from './api-connection.js';
import type { HalfRecord, Share } from './half-record.js';
import { LoadClient } from './load-client.js';
import type { LoadOptions } from './rehearsal-options.js';
import type { ApiAccess } from './rehearsal-plane.js';
import type { ServedTruth } from './served-truth.js';
import type { Skew } from './skew.js';
import { Watching } from './watching.js';

export interface LoadSurroundings {
  readonly front: ApiAccess;
  readonly namespace: string;
  readonly truth: ServedTruth;
  readonly record: HalfRecord;
  readonly clock: Clock;
  readonly others: readonly string[];
}

/** Watches of each resource; each receives the events of all writes. */
const WATCHES_EACH = 3;
const TICK_MS = 20;

/** All clients of one half, with separate connections. They send at a constant rate. */
export class Load {
  readonly #options: LoadOptions;
  readonly #within: LoadSurroundings;
  readonly #connections: ApiConnection[] = [];
  readonly #clients: LoadClient[];
  readonly #watches: Record<Share, Watching[]> = { common: [], skewed: [] };
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;

  constructor(options: LoadOptions, within: LoadSurroundings) {
    this.#options = options;
    this.#within = within;
    this.#clients = Array.from({ length: options.clients }, (_, index) => {
      const onWrite = (share: Share, resourceVersion: string): void => {
        for (const watch of this.#watches[share]) watch.expect(resourceVersion);
      };
      return new LoadClient({ ...within, name: `client-${index + 1}`, api: this.#connect(), onWrite }, index);
    });
  }

  start(): void {
    const { namespace } = this.#within;
    this.#watch('common', pathOf(CONFIG_MAPS, namespace), () => true);
    const beganMs = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - beganMs) / 1_000) * this.#options.requestsPerSecond);
      for (; this.#sent < due; this.#sent++) this.#clients[this.#sent % this.#clients.length]!.step();
    }, TICK_MS);
  }

  /** Begins requests and watches of the skewed resource. */
  begin(skew: Skew): void {
    const { namespace, truth } = this.#within;
    for (const client of this.#clients) client.begin(skew);
    this.#watch('skewed', pathOf(skew.kind, namespace), () => truth.serves(skew.kind.key));
  }

  /** Ends the load; resolves when no request is in flight. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#clients.map((client) => client.rest()));
    await Promise.all([...this.#watches.common, ...this.#watches.skewed].map((watch) => watch.stop()));
    for (const each of this.#connections) each.close();
  }

  #watch(share: Share, collection: string, isServed: () => boolean): void {
    const { record, clock } = this.#within;
    for (let index = 1; index <= WATCHES_EACH; index++) {
      const who = `watcher-${index}`;
      const watch = new Watching({ who, api: this.#connect(), collection, isServed, record, clock });
      this.#watches[share].push(watch);
      watch.start();
    }
  }

  #connect(): ApiConnection {
    const connection = new ApiConnection(this.#within.front);
    this.#connections.push(connection);
    return connection;
  }
}

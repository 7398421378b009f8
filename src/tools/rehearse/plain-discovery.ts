import type { Clock } from '../../base/clock.js';
import { type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import type { Api } from './api-connection.js';

/** A controller's picture of the API: what discovery last said, asked for anew every few seconds, whoever answers. */
export class PlainDiscovery {
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #refreshMs: number;
  #kinds: readonly ResourceKind[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(api: Api, clock: Clock, refreshMs: number) {
    this.#api = api;
    this.#clock = clock;
    this.#refreshMs = refreshMs;
  }

  /** The last good answer where there is no new one. Rejects where there never was one. */
  async kinds(): Promise<readonly ResourceKind[]> {
    if (this.#readAtMs + this.#refreshMs > this.#clock.nowMs()) return this.#kinds;
    const found = await this.#api.discover().catch(() => undefined);
    if (found?.status === 200) {
      this.#kinds = resourceKindsOf(found.groups);
      this.#readAtMs = this.#clock.nowMs();
    }
    if (this.#kinds.length === 0) throw new Error('discovery cannot be read');
    return this.#kinds;
  }
}

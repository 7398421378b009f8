import type { Clock } from '../../base/clock.js';
import { type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import type { Api } from './api-connection.js';

/** A controller that works in rounds and believes every reply. */
export interface PlainController {
  /** Interval of the rounds. */
  readonly everyMs: number;
  round(): Promise<void>;
}

/** The resources in the last discovery reply of any server, read again every few seconds. */
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

  /** Resolves with the last reply if a new one cannot be had. Rejects if there never was one. */
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

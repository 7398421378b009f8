import type { Clock } from '../../base/clock.js';
import { child, text } from '../../kube/fields.js';
import { apiPath } from '../../kube/gvr.js';
import { type JsonObject, objectOrEmpty } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { type AggregationOutbound, aggregatorGet, targetOf } from './aggregation-outbound.js';
import type { RemoteApiService } from './api-service.js';

const INDEX_PATH = '/openapi/v3';
/** Bound on cached indexes; the oldest is dropped. */
const INDEXES_MAX = 64;
const FRESH_MS = 60_000;
const TIMEOUT_MS = 10_000;

interface Kept {
  readonly untilMs: number;
  readonly document: Promise<JsonObject>;
}

/** OpenAPI v3 indexes of aggregated API servers, fetched on demand and cached for a minute. */
export class RemoteOpenApi {
  readonly #objects: ObjectReader;
  readonly #outbound: AggregationOutbound;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(objects: ObjectReader, outbound: AggregationOutbound, clock: Clock) {
    this.#objects = objects;
    this.#outbound = outbound;
    this.#clock = clock;
  }

  /**
   * Returns the entries of `/openapi/v3` for these group-versions: `apis/wardle.example.com/v1` →
   * its URL with hash. A server that cannot be read has none.
   */
  async v3Paths(apiServices: readonly RemoteApiService[]): Promise<Map<string, string>> {
    const paths = new Map<string, string>();
    await Promise.all(
      apiServices.map(async (apiService) => {
        const index = await this.#index(apiService).catch(() => undefined);
        const path = apiPath(apiService.group, apiService.version).slice(1);
        const url = text(child(child(index, 'paths'), path), 'serverRelativeURL');
        if (url !== '') paths.set(path, url);
      }),
    );
    return paths;
  }

  #index(apiService: RemoteApiService): Promise<JsonObject> {
    const { namespace, name, port } = apiService.service;
    const key = `${namespace}/${name}:${port}`;
    const known = this.#kept.get(key);
    if (known && known.untilMs > this.#clock.nowMs()) return known.document;
    this.#kept.delete(key);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < INDEXES_MAX) break;
      this.#kept.delete(oldest);
    }
    const document = this.#fetch(apiService);
    this.#kept.set(key, { untilMs: this.#clock.nowMs() + FRESH_MS, document });
    // A failure is not cached.
    document.catch(() => {
      if (this.#kept.get(key)?.document === document) this.#kept.delete(key);
    });
    return document;
  }

  /** Resolves with an empty object for a server without an index. */
  async #fetch(apiService: RemoteApiService): Promise<JsonObject> {
    const target = targetOf(this.#objects, apiService);
    const headers = ['Accept', 'application/json'];
    const { status, body } = await aggregatorGet(this.#outbound, target, INDEX_PATH, TIMEOUT_MS, headers);
    if (status === 404 || status === 403) return {};
    if (status !== 200) throw new Error(`${apiService.name}: ${INDEX_PATH} answers ${status}`);
    return objectOrEmpty(JSON.parse(body.toString()));
  }
}

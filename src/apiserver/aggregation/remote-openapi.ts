import type { Clock } from '../../base/clock.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { AGGREGATOR_HEADERS, type AggregationOutbound, targetOf } from './aggregation-outbound.js';
import type { RemoteApiService } from './api-service.js';
import { discoveryPath } from './availability.js';

/** Documents kept; beyond that the one longest kept is let go. */
export const REMOTE_OPENAPI_DOCUMENTS_MAX = 64;
const FRESH_MS = 60_000;
const TIMEOUT_MS = 10_000;

interface Kept {
  readonly untilMs: number;
  readonly document: Promise<JsonObject | undefined>;
}

/** OpenAPI documents of aggregated API servers, fetched when somebody asks and kept for a minute. */
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
   * The entries of `/openapi/v3` for these versions: `apis/wardle.example.com/v1` → its URL with hash. A server that does
   * not answer has none, and does not keep the others from being listed.
   */
  async v3Paths(apiServices: readonly RemoteApiService[]): Promise<Map<string, string>> {
    const paths = new Map<string, string>();
    const indexes = await Promise.all(
      apiServices.map((each) => this.#document(each, '/openapi/v3').catch(() => undefined)),
    );
    for (const [i, index] of indexes.entries()) {
      const path = discoveryPath(apiServices[i]!).slice(1);
      const entries = index?.['paths'];
      const entry = isObject(entries) ? entries[path] : undefined;
      const url = isObject(entry) ? entry['serverRelativeURL'] : undefined;
      if (typeof url === 'string') paths.set(path, url);
    }
    return paths;
  }

  /** Undefined where the server has none. Rejects where it can't be asked. */
  v3(apiService: RemoteApiService): Promise<JsonObject | undefined> {
    return this.#document(apiService, `/openapi/v3${discoveryPath(apiService)}`);
  }

  v2(apiService: RemoteApiService): Promise<JsonObject | undefined> {
    return this.#document(apiService, '/openapi/v2');
  }

  #document(apiService: RemoteApiService, path: string): Promise<JsonObject | undefined> {
    const { namespace, name, port } = apiService.service;
    const key = `${namespace}/${name}:${port}${path}`;
    const known = this.#kept.get(key);
    if (known && known.untilMs > this.#clock.nowMs()) return known.document;
    this.#kept.delete(key);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < REMOTE_OPENAPI_DOCUMENTS_MAX) break;
      this.#kept.delete(oldest);
    }
    const document = this.#fetch(apiService, path);
    this.#kept.set(key, { untilMs: this.#clock.nowMs() + FRESH_MS, document });
    // A failure is not kept: the next one to ask tries again.
    document.catch(() => {
      if (this.#kept.get(key)?.document === document) this.#kept.delete(key);
    });
    return document;
  }

  async #fetch(apiService: RemoteApiService, path: string): Promise<JsonObject | undefined> {
    const headers = [...AGGREGATOR_HEADERS, 'Accept', 'application/json'];
    const request = { method: 'GET', path, headers, body: null, timeoutMs: TIMEOUT_MS };
    const { status, body } = await this.#outbound.call(targetOf(this.#objects, apiService), request, true);
    if (status === 404 || status === 403) return undefined;
    if (status !== 200) throw new Error(`${apiService.name}: ${path} answers ${status}`);
    const document = JSON.parse(body.toString()) as Json;
    return isObject(document) ? document : undefined;
  }
}

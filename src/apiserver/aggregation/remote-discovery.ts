import { headerValue, type RawHeaders } from '../../http/headers.js';
import { AGGREGATED_V2, AGGREGATED_V2BETA1 } from '../../kube/accept.js';
import type { ResourceDiscovery } from '../../kube/discovery.js';
import { apiPath } from '../../kube/gvr.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { OutboundAnswer } from '../outbound/outbound.js';
import { type AggregationOutbound, aggregatorGet, targetOf } from './aggregation-outbound.js';
import type { RemoteApiService } from './api-service.js';
import { readAggregatedDocument, readLegacyDocument } from './discovery-documents.js';

const DISCOVERY_TIMEOUT_MS = 5_000;
const AGGREGATED_ACCEPT = `${AGGREGATED_V2},${AGGREGATED_V2BETA1}`;

interface Fetched {
  readonly etag: string | undefined;
  readonly versions: ReadonlyMap<string, ResourceDiscovery[]>;
}

/** Reads discovery of aggregated API servers. A document is cached by Service. */
export class RemoteDiscovery {
  readonly #objects: ObjectReader;
  readonly #outbound: AggregationOutbound;
  readonly #documents = new Map<string, Fetched>();
  readonly #underWay = new Map<string, Promise<Fetched | undefined>>();

  constructor(objects: ObjectReader, outbound: AggregationOutbound) {
    this.#objects = objects;
    this.#outbound = outbound;
  }

  /** Returns the resources of the group-version. Rejects if they cannot be read. */
  async resources(apiService: RemoteApiService): Promise<readonly ResourceDiscovery[]> {
    const { group, version } = apiService;
    const aggregated = await this.#aggregated(apiService);
    if (aggregated) return aggregated.versions.get(`${group}/${version}`) ?? [];
    const path = apiPath(group, version);
    const answer = await this.#get(apiService, path, ['Accept', 'application/json']);
    if (answer.status !== 200) {
      throw new Error(`failed to download legacy discovery for ${path}: status ${answer.status}`);
    }
    return readLegacyDocument(answer.body.toString(), path);
  }

  /** Drops documents of Services that no APIService names any more. */
  keepOnly(apiServices: readonly RemoteApiService[]): void {
    const used = new Set(apiServices.map(serviceKey));
    for (const key of this.#documents.keys()) if (!used.has(key)) this.#documents.delete(key);
  }

  #aggregated(apiService: RemoteApiService): Promise<Fetched | undefined> {
    const key = serviceKey(apiService);
    let underWay = this.#underWay.get(key);
    if (!underWay) {
      underWay = this.#fetchAggregated(apiService, key).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, underWay);
    }
    return underWay;
  }

  /** Returns undefined for a server that has only legacy discovery. */
  async #fetchAggregated(apiService: RemoteApiService, key: string): Promise<Fetched | undefined> {
    const known = this.#documents.get(key);
    const answer = await this.#get(apiService, '/apis', [
      'Accept',
      AGGREGATED_ACCEPT,
      ...(known?.etag === undefined ? [] : ['If-None-Match', known.etag]),
    ]);
    if (answer.status === 304 && known) return known;
    if (answer.status === 503) throw new Error(`service ${key} returned non-success response code: 503`);
    const versions = answer.status === 200 ? readAggregatedDocument(answer.body.toString(), '/apis') : undefined;
    if (!versions) return undefined;
    const fetched = { etag: headerValue(answer.headers, 'etag'), versions };
    this.#documents.set(key, fetched);
    return fetched;
  }

  async #get(apiService: RemoteApiService, path: string, headers: RawHeaders): Promise<OutboundAnswer> {
    const target = targetOf(this.#objects, apiService);
    return aggregatorGet(this.#outbound, target, path, DISCOVERY_TIMEOUT_MS, headers);
  }
}

function serviceKey({ service }: RemoteApiService): string {
  return `${service.namespace}/${service.name}:${service.port}`;
}

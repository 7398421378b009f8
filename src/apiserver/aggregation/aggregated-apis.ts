import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Turnstile } from '../../base/turnstile.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { text } from '../../kube/fields.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { timestamp } from '../../kube/timestamp.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { User } from '../contracts/user.js';
import type { AggregatedGroupVersion } from '../registry/served-resources.js';
import type { AggregationOutbound } from './aggregation-outbound.js';
import {
  API_SERVICES,
  type ApiService,
  type ApiServiceCondition,
  availableCondition,
  isRemote,
  parseApiService,
  type RemoteApiService,
} from './api-service.js';
import { ApiServiceFollower } from './api-service-follower.js';
import { LOCAL_CONDITION } from './local-api-services.js';
import { type MakeHeaders, proxyRequest, serviceUnavailable } from './proxy-request.js';
import { RemoteDiscovery } from './remote-discovery.js';
import { RemoteOpenApi } from './remote-openapi.js';
import { ENDPOINT_SLICES } from './service-address.js';

/** Bound on concurrent checks; each opens a few connections. */
const CHECKS_AT_ONCE_MAX = 4;
/** Delay that joins bursts of changes of endpoints. */
const CHANGES_SETTLE_MS = 50;

export interface AggregatedApisOptions {
  readonly objects: ObjectReader;
  readonly outbound: AggregationOutbound;
  /** `createOutgoingHeaders()` of src/proxy/identity. */
  readonly makeHeaders: MakeHeaders;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Conditions to be written to an APIService. */
interface ApiServiceStatusUpdate {
  readonly name: string;
  /** Of the object from which the update was made. */
  readonly resourceVersion: string;
  readonly conditions: readonly ApiServiceCondition[];
}

/**
 * The aggregated API servers: their availability, their discovery, and the proxy to them. Follows
 * the APIService objects from `start` to `close`. All but `proxy` and `openApi` answer from memory.
 */
export class AggregatedApis {
  readonly openApi: RemoteOpenApi;
  readonly #options: AggregatedApisOptions;
  readonly #discovery: RemoteDiscovery;
  readonly #followers = new Map<string, ApiServiceFollower>();
  #apiServices: ReadonlyMap<string, ApiService> = new Map();
  readonly #listeners = new Set<() => void>();
  readonly #checks = new Turnstile(CHECKS_AT_ONCE_MAX);
  #unsubscribe: (() => void)[] = [];
  #settling: (() => void) | undefined;

  constructor(options: AggregatedApisOptions) {
    this.#options = options;
    this.#discovery = new RemoteDiscovery(options.objects, options.outbound);
    this.openApi = new RemoteOpenApi(options.objects, options.outbound, options.clock);
  }

  start(): void {
    const followed = [
      API_SERVICES,
      { group: '', resource: 'services' },
      { group: '', resource: 'endpoints' },
      ENDPOINT_SLICES,
    ];
    this.#unsubscribe = followed.map((what) => this.#options.objects.onChange(what, () => this.#settle()));
    this.#sync();
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
    this.#settling?.();
    this.#settling = undefined;
    for (const follower of this.#followers.values()) follower.close();
    this.#followers.clear();
    this.#listeners.clear();
  }

  /** Calls back when discovery or conditions may have changed. Returns the unsubscription. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True after every remote APIService was checked once. */
  get synced(): boolean {
    return [...this.#followers.values()].every(({ availability }) => availability !== undefined);
  }

  /** Returns the remote APIService of a group-version; undefined if it is served locally. */
  find(group: string, version: string): RemoteApiService | undefined {
    return this.#followers.get(`${version}.${group}`)?.apiService;
  }

  remotes(): RemoteApiService[] {
    return [...this.#followers.values()].map(({ apiService }) => apiService);
  }

  /** Returns discovery of the remote group-versions. */
  groupVersions(): AggregatedGroupVersion[] {
    return [...this.#followers.values()].map(({ apiService, resources, freshness }) => ({
      group: apiService.group,
      discovery: { version: apiService.version, ...(resources.length > 0 ? { resources } : {}), freshness },
      groupPriority: apiService.groupPriorityMinimum,
      versionPriority: apiService.versionPriority,
    }));
  }

  /** Returns conditions that differ from those of the objects. Empty once they are written. */
  statusUpdates(): ApiServiceStatusUpdate[] {
    const now = timestamp(this.#options.clock.nowMs());
    return this.#options.objects.list(API_SERVICES).flatMap((object) => {
      const apiService = parseApiService(object);
      const follower = isRemote(apiService) ? this.#followers.get(apiService.name) : undefined;
      const found = isRemote(apiService) ? follower?.availability : LOCAL_CONDITION;
      if (!found || follower?.unwritten === false) return [];
      const { status, reason, message } = found;
      const current = availableCondition(apiService);
      if (current?.status === status && current.reason === reason && current.message === message) {
        follower?.written();
        return [];
      }
      const lastTransitionTime = current?.status === status ? current.lastTransitionTime : now;
      const condition: ApiServiceCondition = { type: 'Available', status, lastTransitionTime, reason, message };
      const others = apiService.conditions.filter(({ type }) => type !== 'Available');
      const resourceVersion = text(metadataOf(object), 'resourceVersion');
      return [{ name: apiService.name, resourceVersion, conditions: [...others, condition] }];
    });
  }

  /** Proxies a request. Rejects with StatusError, 503 if the server is unavailable. */
  async proxy(exchange: Exchange, apiService: RemoteApiService, user: User): Promise<Reply> {
    const follower = this.#followers.get(apiService.name);
    if (!follower?.isAvailable) {
      throw serviceUnavailable(apiService.name, follower?.availability?.message ?? 'it has not been checked yet');
    }
    return proxyRequest(this.#options, exchange, follower.apiService, user);
  }

  #settle(): void {
    this.#settling ??= this.#options.clock.after(CHANGES_SETTLE_MS, () => {
      this.#settling = undefined;
      this.#sync();
    });
  }

  #sync(): void {
    const all = this.#options.objects.list(API_SERVICES).map(parseApiService);
    const before = this.#apiServices;
    this.#apiServices = new Map(all.map((each) => [each.name, each]));
    const remote = all.filter(isRemote);
    const names = new Set(remote.map(({ name }) => name));
    for (const [name, follower] of this.#followers) {
      if (names.has(name)) continue;
      follower.close();
      this.#followers.delete(name);
    }
    for (const apiService of remote) this.#follow(apiService);
    this.#discovery.keepOnly(remote);
    if (!isDeepStrictEqual(before, this.#apiServices)) this.#notify();
  }

  #follow(apiService: RemoteApiService): void {
    const known = this.#followers.get(apiService.name);
    if (known) {
      known.update(apiService);
      return;
    }
    const { objects, outbound, clock } = this.#options;
    this.#followers.set(
      apiService.name,
      new ApiServiceFollower(
        {
          objects,
          outbound,
          clock,
          discovery: this.#discovery,
          inTurn: (work) => this.#inTurn(work),
          // Also for a status that could not be written last time.
          onChecked: (changed) => {
            if (changed || this.statusUpdates().length > 0) this.#notify();
          },
        },
        apiService,
      ),
    );
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const leave = await this.#checks.enter();
    try {
      await work();
    } catch (error) {
      this.#options.logger.error('the check of an APIService failed', { error });
    } finally {
      leave();
    }
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

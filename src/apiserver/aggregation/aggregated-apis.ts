import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { timestamp } from '../../kube/timestamp.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { User } from '../contracts/user.js';
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
import { API_REGISTRATION_PRIORITY, CUSTOM_PRIORITY } from './api-service-priorities.js';
import { builtInPriority, LOCAL_CONDITION } from './local-api-services.js';
import { mergeGroups, orderGroups } from './order-groups.js';
import { type MakeHeaders, proxyRequest, serviceUnavailable } from './proxy-request.js';
import { RemoteDiscovery } from './remote-discovery.js';
import { RemoteOpenApi } from './remote-openapi.js';
import { ENDPOINT_SLICES } from './service-address.js';

/** Checks under way at a time; each opens a few connections. */
const CHECKS_AT_ONCE_MAX = 4;
/** Endpoints change in bursts; what changes within this time is looked at once. */
const CHANGES_SETTLE_MS = 50;

export interface AggregatedApisOptions {
  readonly objects: ObjectReader;
  readonly outbound: AggregationOutbound;
  /** `createOutgoingHeaders()` of src/proxy/identity. */
  readonly makeHeaders: MakeHeaders;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An APIService whose condition is to be written. */
export interface ApiServiceStatusUpdate {
  readonly name: string;
  /** Of the object the update was made from. */
  readonly resourceVersion: string;
  readonly conditions: readonly ApiServiceCondition[];
}

/**
 * The API servers behind this one: which there are, whether they can be reached, what they serve, and the way there.
 * Follows the APIService objects from `start` to `close`. Everything that is asked of it is answered from memory, but for
 * `proxy` and the OpenAPI documents.
 */
export class AggregatedApis {
  readonly openApi: RemoteOpenApi;
  readonly #options: AggregatedApisOptions;
  readonly #discovery: RemoteDiscovery;
  readonly #followers = new Map<string, ApiServiceFollower>();
  #apiServices: ReadonlyMap<string, ApiService> = new Map();
  readonly #listeners = new Set<() => void>();
  readonly #waiting: (() => void)[] = [];
  #checksUnderWay = 0;
  #groups: readonly GroupDiscovery[] | undefined;
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

  /** Calls back when groups or conditions may have changed; returns how to take that back. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether every remote APIService has been checked once. */
  get synced(): boolean {
    return [...this.#followers.values()].every(({ availability }) => availability !== undefined);
  }

  /** The remote APIService for a group-version; undefined where this server itself answers. */
  find(group: string, version: string): RemoteApiService | undefined {
    return this.#followers.get(`${version}.${group}`)?.apiService;
  }

  remotes(): RemoteApiService[] {
    return [...this.#followers.values()].map(({ apiService }) => apiService);
  }

  /** What the remote servers serve, in order of priority. The same array until something changes. */
  groups(): readonly GroupDiscovery[] {
    this.#groups ??= this.#order(
      mergeGroups(
        [],
        [...this.#followers.values()].map(({ apiService, resources, freshness }) => ({
          metadata: { name: apiService.group },
          versions: [{ version: apiService.version, ...(resources.length > 0 ? { resources } : {}), freshness }],
        })),
      ),
    );
    return this.#groups;
  }

  /** This server's own groups with the remote ones among them; a version that an APIService sends elsewhere is theirs. */
  mergedGroups(local: readonly GroupDiscovery[]): GroupDiscovery[] {
    return this.#order(mergeGroups(local, this.groups()));
  }

  /** Conditions that differ from what the objects say, for whoever may write them. Empty once they are written. */
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
      return [
        { name: apiService.name, resourceVersion: resourceVersionOf(object), conditions: [...others, condition] },
      ];
    });
  }

  /** Sends a request on. Rejects with StatusError: 503 where the API server behind the APIService can't be reached. */
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
    if (!isDeepStrictEqual(before, this.#apiServices)) this.#changed();
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
          onChecked: (changed) => this.#checked(changed),
        },
        apiService,
      ),
    );
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#checksUnderWay < CHECKS_AT_ONCE_MAX) this.#checksUnderWay += 1;
    // Whoever ends hands its place over.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await work();
    } catch (error) {
      this.#options.logger.error('the check of an APIService failed', { error });
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#checksUnderWay -= 1;
    }
  }

  /** What could not be written last time is brought up again. */
  #checked(changed: boolean): void {
    if (changed) this.#changed();
    else if (this.statusUpdates().length > 0) this.#tell();
  }

  #changed(): void {
    this.#groups = undefined;
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #order(groups: readonly GroupDiscovery[]): GroupDiscovery[] {
    return orderGroups(groups, (group, version) => {
      const named = this.#apiServices.get(`${version}.${group}`);
      if (named) return [named.groupPriorityMinimum, named.versionPriority];
      if (group === API_SERVICES.group) return API_REGISTRATION_PRIORITY;
      return builtInPriority(group, version) ?? CUSTOM_PRIORITY;
    });
  }
}

function resourceVersionOf(object: JsonObject): string {
  const metadata = object['metadata'];
  return isObject(metadata) ? String(metadata['resourceVersion'] ?? '') : '';
}

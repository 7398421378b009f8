import type { Clock } from '../../base/clock.js';
import type { WorkSlices } from '../../base/work-slices.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { RequestInfo } from '../../kube/request-info.js';
import type { AdmissionChain } from '../admission/admission-chain.js';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.js';
import type { User } from '../contracts/user.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { StrategyContext } from '../registry/strategy.js';
import type { Backend } from '../storage/backend.js';
import type { Caches } from '../watch/caches.js';
import { storageKey } from '../watch/caches.js';
import type { StoreFeed } from '../watch/store-feed.js';
import type { Turns } from './keyed-mutex.js';
import { nowText } from './now-text.js';

/** The parts of a server that its verbs use: one for each server. */
export interface Machinery {
  /** The Kubernetes version that is served, for rules that differ between versions: 36 for 1.36. */
  readonly minor: number;
  readonly backend: Backend;
  readonly feed: StoreFeed;
  readonly caches: Caches;
  readonly admission: AdmissionChain;
  /** For permissions that a request needs in addition to that of its method and path. */
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  /** Serializes the changes of one object. */
  readonly turns: Turns;
  /** Open watches, which end when the server stops. */
  readonly watches: Set<{ stop(): void }>;
}

/** One authorized request for a resource of this server. */
export interface ApiCall {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly type: ResourceType;
  readonly user: User;
  /** Texts for the `Warning` header; each once. */
  readonly warnings: Set<string>;
  /** Divides the work on large objects and lists. */
  readonly slices: WorkSlices;
  readonly machinery: Machinery;
}

export type Verb = (call: ApiCall) => Promise<Reply>;

export function keyOf({ type, info }: ApiCall, name = info.name): string {
  return storageKey(type.storage.prefix, type.namespaced ? info.namespace : '', name);
}

export function strategyContext({ machinery }: ApiCall): StrategyContext {
  return { now: nowText(machinery.clock), objects: machinery.caches };
}

/** Returns the authorization attributes of the request itself, which its user has passed. */
export function attributesOfCall({ user, info }: Pick<ApiCall, 'user' | 'info'>): ResourceAttributes {
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return { user, verb, group, version, resource, subresource, namespace, name };
}

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

/** What every verb works with: one per server. */
export interface Machinery {
  readonly backend: Backend;
  readonly feed: StoreFeed;
  readonly caches: Caches;
  readonly admission: AdmissionChain;
  /** Decides about rights that a request needs beyond the one its method and path name. */
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  /** Changes of one object, one after the other. */
  readonly turns: Turns;
  /** Watches that go on, to be ended when the server stops. */
  readonly watches: Set<{ stop(): void }>;
}

/** One request for a resource of this server, by somebody who may make it. */
export interface ApiCall {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly type: ResourceType;
  readonly user: User;
  /** Texts for the `Warning` header; each once. */
  readonly warnings: Set<string>;
  /** Work on large objects and lists is divided by these. */
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

/** The authorization attributes of the request itself; its user has this right already. */
export function attributesOfCall({ user, info }: Pick<ApiCall, 'user' | 'info'>): ResourceAttributes {
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return { user, verb, group, version, resource, subresource, namespace, name };
}

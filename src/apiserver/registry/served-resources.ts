import type { VersionDiscovery } from '../../kube/discovery.js';
import type { ResourceType } from './resource-type.js';

/** A resource that nothing is stored of: reviews, bindings, component statuses. */
export type VirtualResource = Pick<
  ResourceType,
  | 'group'
  | 'version'
  | 'resource'
  | 'singular'
  | 'kind'
  | 'namespaced'
  | 'verbs'
  | 'shortNames'
  | 'categories'
  | 'subresources'
>;

/** A group's version that another server answers for, because an APIService says so. */
export interface AggregatedGroupVersion {
  readonly group: string;
  readonly discovery: VersionDiscovery;
  /** `spec.groupPriorityMinimum` and `spec.versionPriority`. */
  readonly groupPriority: number;
  readonly versionPriority: number;
}

/** Groups and their versions, best first; a surface's `groups` are this. */
export type GroupOrder = readonly {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
}[];

/** All that one server serves. Immutable; a change makes a new one. */
export interface ServedResources {
  readonly types: readonly ResourceType[];
  readonly virtual: readonly VirtualResource[];
  readonly aggregated: readonly AggregatedGroupVersion[];
  readonly order: GroupOrder;
}

import type { VersionDiscovery } from '../../kube/discovery.js';
import type { DiscoveredResource, ResourceType } from './resource-type.js';

/** A resource without stored objects: reviews, bindings, component statuses. */
export type VirtualResource = DiscoveredResource;

/** A version of a group that an APIService delegates to another server. */
export interface AggregatedGroupVersion {
  readonly group: string;
  readonly discovery: VersionDiscovery;
  /** `spec.groupPriorityMinimum` and `spec.versionPriority`. */
  readonly groupPriority: number;
  readonly versionPriority: number;
}

/** Groups and their versions in the order of preference, as `groups` of a surface. */
export type GroupOrder = readonly {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
}[];

/** Everything that one server serves. Immutable; a change makes a new one. */
export interface ServedResources {
  readonly types: readonly ResourceType[];
  readonly virtual: readonly VirtualResource[];
  readonly aggregated: readonly AggregatedGroupVersion[];
  readonly order: GroupOrder;
}

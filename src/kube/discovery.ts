/** Aggregated discovery (`apidiscovery.k8s.io`, v2 and v2beta1), the fields that Straddle uses. */
export interface GroupDiscoveryList {
  readonly kind: 'APIGroupDiscoveryList';
  readonly apiVersion: 'apidiscovery.k8s.io/v2' | 'apidiscovery.k8s.io/v2beta1';
  readonly metadata: Record<string, unknown>;
  readonly items: readonly GroupDiscovery[];
}

export interface GroupDiscovery {
  /** `name` is the group; absent for the core group. */
  readonly metadata: { readonly name?: string; readonly creationTimestamp?: null };
  readonly versions?: readonly VersionDiscovery[];
}

export interface VersionDiscovery {
  readonly version: string;
  readonly resources?: readonly ResourceDiscovery[];
  readonly freshness?: 'Current' | 'Stale';
}

export interface KindReference {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

export interface ResourceDiscovery {
  readonly resource: string;
  readonly responseKind?: KindReference;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SubresourceDiscovery[];
}

export interface SubresourceDiscovery {
  readonly subresource: string;
  readonly responseKind?: KindReference;
  readonly acceptedTypes?: readonly KindReference[];
  readonly verbs?: readonly string[];
}

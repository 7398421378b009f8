import type { MergedDiscovery } from './merge.js';

/** The legacy form of `/api`. */
export interface ApiVersions {
  readonly kind: 'APIVersions';
  readonly versions: readonly string[];
  /** Addresses of the server that replies: different on each server, never merged. */
  readonly serverAddressByClientCIDRs: readonly unknown[];
}

/** Adds the core versions of peers to the host's reply; undefined if that is not an APIVersions. */
export function completeApiVersions(own: unknown, merged: MergedDiscovery): ApiVersions | undefined {
  if (typeof own !== 'object' || own === null) return undefined;
  const { kind, versions, serverAddressByClientCIDRs } = own as Partial<ApiVersions>;
  if (kind !== 'APIVersions') return undefined;
  const known = Array.isArray(versions) ? versions.filter((version) => typeof version === 'string') : [];
  const all = merged.core.flatMap((group) => (group.versions ?? []).map(({ version }) => version));
  return {
    kind: 'APIVersions',
    versions: [...new Set([...all, ...known])],
    serverAddressByClientCIDRs: Array.isArray(serverAddressByClientCIDRs) ? serverAddressByClientCIDRs : [],
  };
}

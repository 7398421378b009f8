import type { MergedDiscovery } from './merge.js';

/** `/api` in the form before aggregated discovery. */
export interface ApiVersions {
  readonly kind: 'APIVersions';
  readonly versions: readonly string[];
  /** Where the asked server is to be reached: each server's own, so never merged. */
  readonly serverAddressByClientCIDRs: readonly unknown[];
}

/** The host's own answer with the versions of the core group that only peers have; undefined if it is no such answer. */
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

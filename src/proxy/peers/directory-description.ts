import type { AddressConflict } from './address-claims.js';
import type { PeerMonitor, PeerState } from './peer-monitor.js';
import type { PeerEndpoint } from './peer-table.js';

export interface PeerDescription {
  readonly identity: string;
  readonly state: PeerState;
  readonly endpoints: readonly {
    readonly kind: PeerEndpoint['kind'];
    readonly address: string;
    readonly usable: boolean;
    readonly inFlight: number;
    readonly lastError?: string;
  }[];
  /** Time since the surface was last confirmed; absent if it was never read. */
  readonly surfaceAgeMs?: number;
  readonly kubernetesVersion: string;
  /** Last renewal of an identity lease of the server; absent if no source shows one. */
  readonly leaseRenewedAtMs?: number;
}

export interface DirectoryDescription {
  readonly synced: boolean;
  readonly sources: readonly { readonly name: string; readonly answered: boolean }[];
  readonly peers: readonly PeerDescription[];
  readonly departed: readonly {
    readonly identity: string;
    readonly departedAtMs: number;
    readonly kubernetesVersion: string;
  }[];
  /** Addresses that identity leases claim for several host names. */
  readonly conflicts: readonly AddressConflict[];
  /** Number of servers that were ignored because of the bound. */
  readonly leftOutCount: number;
}

export function describePeer(monitor: PeerMonitor, nowMs: number): PeerDescription {
  return {
    identity: monitor.identity,
    state: monitor.state,
    endpoints: monitor.endpoints.map(({ kind, destination, health }) => ({
      kind,
      address: destination.address,
      usable: health.usable(),
      inFlight: destination.inFlight,
      ...(health.lastError === undefined ? {} : { lastError: health.lastError }),
    })),
    ...(monitor.surfaceReadAtMs === undefined ? {} : { surfaceAgeMs: nowMs - monitor.surfaceReadAtMs }),
    kubernetesVersion: monitor.surface?.kubernetesVersion ?? '',
  };
}

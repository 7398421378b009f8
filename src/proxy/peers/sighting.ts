import type { PeerEndpoint } from './peer-table.js';

/** One record of a server from one source. */
export interface Sighting {
  readonly source: 'lease' | 'endpoints' | 'static';
  /** Kind of server at `address`. */
  readonly kind: PeerEndpoint['kind'];
  readonly hostname?: string;
  readonly address?: string;
  /** For kind `straddle`: address at which other machines reach the API server behind it. */
  readonly upstreamAddress?: string;
  /**
   * Only with `upstreamAddress`: the API server listens on loopback, so that nobody answers there and it is reached through its
   * Straddle.
   */
  readonly isBehindStraddle?: true;
  /** Time of the last renewal, by the writer's clock but never in the future. Leases only. */
  readonly renewedAtMs?: number;
  /** Changes when the process at that address is replaced. */
  readonly incarnation?: string;
}

/** Names and addresses of this process and its host, which are never peers. */
export interface Selves {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

import type { PeerEndpoint } from './peer-table.js';

/** One trace of a server, as one source saw it. */
export interface Sighting {
  readonly source: 'lease' | 'endpoints' | 'static';
  /** What answers at `address`. */
  readonly kind: PeerEndpoint['kind'];
  readonly hostname?: string;
  readonly address?: string;
  /** With kind `straddle`: where the API server behind it is reached from other machines. */
  readonly upstreamAddress?: string;
  /** When it was last renewed, by the writer's clock but never in the future. Leases only. */
  readonly renewedAtMs?: number;
  /** Changes when the process behind it does. */
  readonly incarnation?: string;
}

/** What this process and its host are known by; never peers. */
export interface Selves {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

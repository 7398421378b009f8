import type { Destination } from '../../http/outgoing.js';
import type { RequestInfo } from '../../kube/request-info.js';
import type { Surface } from '../../kube/surface.js';

/** One address of a peer. A server behind a Straddle can have two: its own, and its Straddle's. */
export interface PeerEndpoint {
  readonly kind: 'kube-apiserver' | 'straddle';
  readonly destination: Destination;
  /** False while it cools down after a failure and until a probe has answered. */
  usable(): boolean;
  /**
   * Reports the outcome of an attempt; a failure outside of a cool-down starts one, longer with
   * each repeated failure.
   */
  report(outcome: 'answered' | 'failed', why?: string): void;
}

/** Another server of the same control plane, as it is now. Immutable but for what `endpoints` learn about health. */
export interface Peer {
  /** The same on every server of the control plane: the host name if known, else the address. */
  readonly identity: string;
  /** Preferred first: the API server itself, then the Straddle before it. */
  readonly endpoints: readonly PeerEndpoint[];
  /** Undefined until its discovery could be read once. */
  readonly surface: Surface | undefined;
}

/** A server that went away, with what it served, until its grace period is over. */
export interface DepartedServer {
  readonly identity: string;
  readonly surface: Surface;
  readonly departedAtMs: number;
}

/** All that is known of the other servers at one moment. Synchronous, immutable, cheap to ask: it is on the hot path. */
export interface PeerTable {
  /** Sorted by identity. */
  readonly peers: readonly Peer[];
  readonly departed: readonly DepartedServer[];
  /** Peers whose surface has what is asked, whatever their health. One map look-up, whatever the number of peers. */
  capable(info: RequestInfo): readonly Peer[];
  /** Peers that exist but whose surface has not been read yet. */
  readonly unread: readonly Peer[];
  /** A departed server that served it. Servers that are back, and grace periods that are over, are not in the table. */
  departedWith(info: RequestInfo): DepartedServer | undefined;
}

export interface PeerDirectory {
  snapshot(): PeerTable;
  /** Calls back after the snapshot has changed; returns how to take that back. */
  onChange(listener: () => void): () => void;
  /** Every configured source has answered once and every peer found then was tried once. */
  synced(): boolean;
  /** A peer's answer did not fit its surface: read it again now. Resolves when read or when the bounded wait is over. */
  refresh(peer: Peer): Promise<void>;
}

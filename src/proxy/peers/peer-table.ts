import type { Destination } from '../../http/outgoing.js';
import type { RequestInfo } from '../../kube/request-info.js';
import type { Surface } from '../../kube/surface.js';

/** One address of a peer. A server behind a Straddle can have two: that of its kube-apiserver, and that of its Straddle. */
export interface PeerEndpoint {
  readonly kind: 'kube-apiserver' | 'straddle';
  readonly destination: Destination;
  /** False while it cools down after a failure and until a probe has answered. */
  usable(): boolean;
  /** Reports the outcome of an attempt; a failure begins a cool-down, longer each time. */
  report(outcome: 'answered' | 'failed', why?: string): void;
}

/** Another server of the control plane. Immutable except for the health of its endpoints. */
export interface Peer {
  /** The same on every server of the control plane: the host name if known, else the address. */
  readonly identity: string;
  /** Preferred first: the API server itself, then the Straddle before it, then addresses at which nobody is said to listen. */
  readonly endpoints: readonly PeerEndpoint[];
  /** Undefined until its discovery could be read once. */
  readonly surface: Surface | undefined;
}

/** A departed server with its last surface, until its grace period is over. */
export interface DepartedServer {
  readonly identity: string;
  readonly surface: Surface;
  readonly departedAtMs: number;
}

/** The other servers at one moment. Immutable; every request queries it. */
export interface PeerTable {
  /** Sorted by identity. */
  readonly peers: readonly Peer[];
  readonly departed: readonly DepartedServer[];
  /** Returns the peers that serve a request, in any state of health, by one map look-up. */
  capable(info: RequestInfo): readonly Peer[];
  /** Peers that exist but whose surface has not been read yet. */
  readonly unread: readonly Peer[];
  /** Returns a departed server that served a request, within its grace period. */
  departedWith(info: RequestInfo): DepartedServer | undefined;
}

export interface PeerDirectory {
  snapshot(): PeerTable;
  /** Calls back after the snapshot has changed; returns a function that unregisters. */
  onChange(listener: () => void): () => void;
  /** Every configured source has answered once and every peer found then was tried once. */
  synced(): boolean;
  /** Reads a peer's surface again, which a reply contradicted; resolves after a bounded wait. */
  refresh(peer: Peer): Promise<void>;
}

import type { Handler } from '../http/exchange.js';
import type { Host } from '../proxy/hosts/host.js';
import type { KnownSurface } from '../proxy/peers/local-surface.js';
import type { RunningPeerDirectory } from '../proxy/peers/peer-directory.js';

/**
 * The servers of the control plane as one process knows them. A process by itself, and the head of a group, observes them
 * (observed-view.ts); a worker has a copy of the view of its head (replicated-view.ts).
 */
export interface ControlPlaneView {
  /** The API that the server behind this process serves. */
  readonly local: KnownSurface;
  /** The other servers; empty while peering is off. */
  readonly directory: RunningPeerDirectory;
  /** Last renewal of this server's own lease; undefined if this process renews none. */
  readonly leaseRenewedAtMs: () => number | undefined;
  /**
   * Begins to keep the view up to date; called once, after the host has started. `port` is where this server listens.
   * Resolves when the local server's surface has been read, or could not be.
   */
  start(port: number): Promise<void>;
  /** Announces to the other servers that this one stops. */
  withdraw(): Promise<void>;
  /** Ends the updates. The view stays as it was last. */
  close(): Promise<void>;
}

/** The server that a view is made for. */
export interface ViewedServer {
  readonly host: Host;
  /** Routes requests of the view itself. Rejects until the view has been made. */
  readonly router: Handler;
}

import type { KnownSurface } from '../proxy/peers/local-surface.js';
import type { PeerDirectoryOptions, RunningPeerDirectory } from '../proxy/peers/peer-directory.js';
import type { Front } from './listener.js';
import type { Parts } from './parts.js';

/** What one of several processes that serve as one server does differently from a server by itself. See ADR 0005. */
export interface GroupRole {
  /** In a worker: what the head tells it, in place of finding it out. It then keeps no lease and remembers nobody. */
  readonly known?: { readonly surface: KnownSurface; readonly directory: RunningPeerDirectory };
  /** In the head: who wants to know how endpoints are. */
  readonly health?: Pick<PeerDirectoryOptions, 'onHealth' | 'onHang'>;
  readonly makeFront: (parts: Parts, state: { draining: boolean }) => Front;
}

import { gvrKey } from '../../kube/gvr.js';
import { type Surface, serves } from '../../kube/surface.js';
import type { DepartedServer, Peer, PeerTable } from '../peers/peer-table.js';

/** A peer table from surfaces, without directory or connections. */
export function tableOf(
  peers: Readonly<Record<string, Surface | undefined>>,
  departed: Readonly<Record<string, Surface>> = {},
): PeerTable {
  const live: Peer[] = Object.entries(peers).map(([identity, surface]) => ({ identity, endpoints: [], surface }));
  const gone: DepartedServer[] = Object.entries(departed).map(([identity, surface]) => ({
    identity,
    surface,
    departedAtMs: 0,
  }));
  return {
    peers: live,
    departed: gone,
    unread: live.filter((peer) => !peer.surface),
    capable: (info) => live.filter((peer) => peer.surface && serves(peer.surface, info)),
    departedWith: (info) => gone.find((s) => s.surface.resources.has(gvrKey(info.group, info.version, info.resource))),
  };
}

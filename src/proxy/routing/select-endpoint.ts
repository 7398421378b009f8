import type { Peer, PeerEndpoint } from '../peers/peer-table.js';

export interface Candidate {
  readonly peer: Peer;
  readonly endpoint: PeerEndpoint;
}

/** Bound on the peers compared: more would cost more for no better choice. */
const COMPARED_MAX = 8;

/** Index of the first peer of the last choice among more than COMPARED_MAX. */
let turn = 0;

/**
 * Returns the endpoint to try next: usable, not tried yet for this request, with the fewest
 * requests in flight; the first one of equals. A second address of a tried peer is last, because
 * it leads to the same server. Of very many peers, a few in turn are compared.
 */
export function selectEndpoint(peers: readonly Peer[], tried: ReadonlySet<PeerEndpoint>): Candidate | undefined {
  if (tried.size === 0) return leastLoaded(peers, tried);
  const untried = peers.filter(({ endpoints }) => !endpoints.some((each) => tried.has(each)));
  return leastLoaded(untried, tried) ?? leastLoaded(peers, tried);
}

function leastLoaded(peers: readonly Peer[], tried: ReadonlySet<PeerEndpoint>): Candidate | undefined {
  const count = peers.length;
  if (count > COMPARED_MAX) turn = (turn + COMPARED_MAX) % count;
  const first = count > COMPARED_MAX ? turn : 0;
  let best: Candidate | undefined;
  let compared = 0;
  for (let i = 0; i < count && compared < COMPARED_MAX; i++) {
    const peer = peers[(first + i) % count]!;
    const endpoint = usableEndpoint(peer, tried);
    if (!endpoint) continue;
    compared += 1;
    if (!best || endpoint.destination.inFlight < best.endpoint.destination.inFlight) best = { peer, endpoint };
  }
  return best;
}

function usableEndpoint({ endpoints }: Peer, tried: ReadonlySet<PeerEndpoint>): PeerEndpoint | undefined {
  for (const each of endpoints) if (each.usable() && !tried.has(each)) return each;
  return undefined;
}

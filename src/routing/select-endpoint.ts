import type { Peer, PeerEndpoint } from '../peers/peer-table.js';

export interface Candidate {
  readonly peer: Peer;
  readonly endpoint: PeerEndpoint;
}

/**
 * The peer to try next: one that is healthy, not tried yet for this request, and has the fewest requests in flight.
 * Ties go to the first, so that an idle control plane behaves the same every time.
 */
export function selectEndpoint(peers: readonly Peer[], tried: ReadonlySet<PeerEndpoint>): Candidate | undefined {
  let best: Candidate | undefined;
  for (const peer of peers) {
    const endpoint = peer.endpoints.find((each) => each.usable() && !tried.has(each));
    if (!endpoint) continue;
    if (!best || endpoint.destination.inFlight < best.endpoint.destination.inFlight) best = { peer, endpoint };
  }
  return best;
}

import type { PeerDirectory } from '../proxy/peers/peer-table.js';
import { buildPeerTable } from '../proxy/peers/table-index.js';

/** The directory while the feature is off: nobody but this server. */
export function noPeers(): PeerDirectory {
  const table = buildPeerTable({ peers: [], unread: [], departed: [] });
  return { snapshot: () => table, onChange: () => () => {}, synced: () => true, refresh: async () => {} };
}

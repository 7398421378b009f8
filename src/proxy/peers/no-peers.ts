import type { RunningPeerDirectory } from './peer-directory.js';
import { buildPeerTable } from './table-index.js';

/** Peer directory while the feature is off: always empty. */
export function noPeers(): RunningPeerDirectory {
  const table = buildPeerTable({ peers: [], unread: [], departed: [] });
  return {
    snapshot: () => table,
    onChange: () => () => {},
    synced: () => true,
    refresh: async () => {},
    start: () => {},
    describe: () => ({ synced: true, sources: [], peers: [], departed: [], conflicts: [], leftOutCount: 0 }),
    close: async () => {},
  };
}

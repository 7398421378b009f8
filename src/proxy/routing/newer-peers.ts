import { compareServerVersions, isNewerServerVersion } from '../../kube/kube-version.js';
import type { Peer } from '../peers/peer-table.js';

/**
 * Returns the peers of the newest version among those that are newer than `version` and take requests now; all others may
 * refuse what a server of `version` refuses. Pure.
 */
export function newestPeers(peers: readonly Peer[], version: string): readonly Peer[] {
  let newest: Peer[] = [];
  for (const peer of peers) {
    if (!isNewerServerVersion(versionOf(peer), version) || !peer.endpoints.some((each) => each.usable())) continue;
    const order = newest.length === 0 ? -1 : compareServerVersions(versionOf(peer), versionOf(newest[0]!));
    if (order < 0) newest = [peer];
    else if (order === 0) newest.push(peer);
  }
  return newest;
}

function versionOf({ surface }: Peer): string {
  return surface?.kubernetesVersion ?? '';
}

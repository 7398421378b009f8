import { describe, expect, it } from 'vitest';
import { newestPeers } from './newer-peers.js';
import { endpoint, peer, surfaceOf } from './routing.fixture.js';

const of = (identity: string, version: string, usable = true) =>
  peer(identity, surfaceOf({}, version), endpoint(`${identity}:6443`, { usable }));
const names = (peers: ReturnType<typeof newestPeers>) => peers.map(({ identity }) => identity);

describe('newestPeers', () => {
  const peers = [of('b', 'v1.36.4'), of('c', 'v1.37.1'), of('d', 'v1.35.8'), of('e', 'v1.37.1'), of('f', '')];

  it('returns all peers of the newest version', () => {
    expect(names(newestPeers(peers, 'v1.35.8'))).toEqual(['c', 'e']);
    expect(names(newestPeers(peers, 'v1.36.4'))).toEqual(['c', 'e']);
  });

  it('returns none for a server of the newest version, and for one of unknown version', () => {
    expect(newestPeers(peers, 'v1.37.1')).toEqual([]);
    expect(newestPeers(peers, '')).toEqual([]);
    expect(newestPeers([peer('b', undefined)], 'v1.35.8')).toEqual([]);
  });

  it('leaves out peers that take no requests', () => {
    const some = [of('b', 'v1.36.4'), of('c', 'v1.37.1', false)];
    expect(names(newestPeers(some, 'v1.35.8'))).toEqual(['b']);
    expect(newestPeers(some, 'v1.36.4')).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { Alternatives } from './alternatives.js';
import { ask, endpoint, peer, surfaceOf, tableOf } from './routing.fixture.js';

const PODS = '/api/v1/pods';
const SURFACE = surfaceOf({ '/v1/pods': 'get list' });

/** Peers in cool-down; probes of them stay under way until `end` is called. */
function cooling(count: number) {
  const probed: string[] = [];
  const ends: (() => void)[] = [];
  const endpoints = Array.from({ length: count }, (_, i) => endpoint(`p${i}`, { usable: false }));
  const peers = endpoints.map((each, i) => peer(`p${i}`, SURFACE, each));
  const table = tableOf(peers);
  const alternatives = new Alternatives({
    directory: () => ({
      snapshot: () => table,
      refresh: ({ identity }) => {
        probed.push(identity);
        return new Promise((resolve) => ends.push(resolve));
      },
    }),
    localServes: () => false,
  });
  return { alternatives, endpoints, peers, probed, ends };
}

describe('Alternatives', () => {
  it('has none while the capable peers are in cool-down, and probes each of them once at a time', async () => {
    const { alternatives, endpoints, probed, ends } = cooling(2);
    expect([alternatives.toLocal(ask('GET', PODS)), alternatives.toLocal(ask('GET', PODS))]).toEqual([false, false]);
    expect(probed).toEqual(['p0', 'p1']);
    ends[0]!();
    await Promise.resolve();
    expect(alternatives.toLocal(ask('GET', PODS))).toBe(false);
    expect(probed).toEqual(['p0', 'p1', 'p0']);
    endpoints[1]!.usableNow = true;
    expect(alternatives.toLocal(ask('GET', PODS))).toBe(true);
    expect(alternatives.toLocal(ask('GET', '/apis/batch/v2/jobs'))).toBe(false);
  });

  it('probes a bounded number of peers at a time', () => {
    const { alternatives, probed } = cooling(20);
    alternatives.toLocal(ask('GET', PODS));
    expect(probed).toHaveLength(4);
  });

  it('has none to the local server for a request about that server, and none to a peer in that peer', () => {
    const { alternatives, endpoints, peers } = cooling(1);
    endpoints[0]!.usableNow = true;
    const alone = Object.assign(ask('GET', PODS), { localOnly: true });
    expect(alternatives.toLocal(alone)).toBe(false);
    expect(alternatives.toLocal(ask('GET', PODS))).toBe(true);
    expect(alternatives.toPeer(ask('GET', PODS), peers[0]!)).toBe(false);
  });
});

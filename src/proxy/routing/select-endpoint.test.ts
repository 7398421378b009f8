import { expect, it } from 'vitest';
import { endpoint, peer } from './routing.fixture.js';
import { selectEndpoint } from './select-endpoint.js';

const none = new Set<never>();

it('selectEndpoint returns the usable peer with the fewest requests in flight, the first on a tie', () => {
  const busy = peer('a', undefined, endpoint('a', { inFlight: 5 }));
  const calm = peer('b', undefined, endpoint('b', { inFlight: 1 }));
  const calmToo = peer('c', undefined, endpoint('c', { inFlight: 1 }));
  const sick = peer('d', undefined, endpoint('d', { usable: false }));
  expect(selectEndpoint([busy, calm, calmToo, sick], none)?.peer.identity).toBe('b');
});

it('selectEndpoint prefers the first endpoint of a peer to its second unless that is unusable or was tried', () => {
  const first = endpoint('a1', { inFlight: 9 });
  const second = endpoint('a2');
  const a = peer('a', undefined, first, second);
  expect(selectEndpoint([a], none)?.endpoint).toBe(first);
  expect(selectEndpoint([a], new Set([first]))?.endpoint).toBe(second);
  first.usableNow = false;
  expect(selectEndpoint([a], none)?.endpoint).toBe(second);
});

it('selectEndpoint returns undefined if all endpoints are unusable or were tried', () => {
  const one = endpoint('a');
  expect(selectEndpoint([peer('a', undefined, one)], new Set([one]))).toBeUndefined();
  expect(selectEndpoint([peer('a', undefined, endpoint('a', { usable: false }))], none)).toBeUndefined();
  expect(selectEndpoint([], none)).toBeUndefined();
});

it('selectEndpoint compares a random few of many peers, and finds the only usable one', () => {
  const many = Array.from({ length: 100 }, (_, i) => peer(`p${i}`, undefined, endpoint(`p${i}`)));
  const chosen = new Set(Array.from({ length: 100 }, () => selectEndpoint(many, none)?.peer.identity));
  expect(chosen.size).toBeGreaterThan(20);
  const lonely = many.map((_, i) => peer(`q${i}`, undefined, endpoint(`q${i}`, { usable: i === 57 })));
  expect(selectEndpoint(lonely, none)?.peer.identity).toBe('q57');
});

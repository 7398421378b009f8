import { expect, it } from 'vitest';
import { endpoint, peer } from './routing.fixture.js';
import { selectEndpoint } from './select-endpoint.js';

const none = new Set<never>();

it('takes the healthy peer with the fewest requests in flight, the first on a tie', () => {
  const busy = peer('a', undefined, endpoint('a', { inFlight: 5 }));
  const calm = peer('b', undefined, endpoint('b', { inFlight: 1 }));
  const calmToo = peer('c', undefined, endpoint('c', { inFlight: 1 }));
  const sick = peer('d', undefined, endpoint('d', { usable: false }));
  expect(selectEndpoint([busy, calm, calmToo, sick], none)?.peer.identity).toBe('b');
});

it('prefers a peer’s first endpoint, and falls back to its second when the first is unwell or was tried', () => {
  const first = endpoint('a1', { inFlight: 9 });
  const second = endpoint('a2');
  const a = peer('a', undefined, first, second);
  expect(selectEndpoint([a], none)?.endpoint).toBe(first);
  expect(selectEndpoint([a], new Set([first]))?.endpoint).toBe(second);
  first.usableNow = false;
  expect(selectEndpoint([a], none)?.endpoint).toBe(second);
});

it('finds nobody when all are unwell or were tried', () => {
  const one = endpoint('a');
  expect(selectEndpoint([peer('a', undefined, one)], new Set([one]))).toBeUndefined();
  expect(selectEndpoint([peer('a', undefined, endpoint('a', { usable: false }))], none)).toBeUndefined();
  expect(selectEndpoint([], none)).toBeUndefined();
});

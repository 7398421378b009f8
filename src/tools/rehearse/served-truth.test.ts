import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { SETTLE_MS, ServedTruth } from './served-truth.js';

const access = { url: '', caPem: '', certPem: '', keyPem: '' };
const COMMON = '/v1/configmaps';
const NEW = 'scheduling.k8s.io/v1alpha2/podgroups';

function setUp() {
  const clock = new ManualClock();
  const servers = ['server-1', 'server-2'].map((name) => ({ name, version: '1.35', access }));
  const truth = new ServedTruth(clock, servers);
  truth.learn('1.35', [COMMON]);
  const upgradeFirst = (): void => {
    truth.leaves('server-1', '1.36');
    truth.entered('server-1', '1.36');
    truth.learn('1.36', [COMMON, NEW]);
  };
  return { clock, truth, upgradeFirst };
}

describe('ServedTruth', () => {
  it('serves the resources of every version that runs', () => {
    const { truth, upgradeFirst } = setUp();
    expect(truth.serves(COMMON)).toBe(true);
    expect(truth.serves(NEW)).toBe(false);
    upgradeFirst();
    expect(truth.serves(NEW)).toBe(true);
    expect(truth.isMixed(NEW)).toBe(true);
    expect(truth.isMixed(COMMON)).toBe(false);
  });

  it('serves a resource while its only server restarts', () => {
    const { clock, truth, upgradeFirst } = setUp();
    upgradeFirst();
    const sinceMs = clock.nowMs() + SETTLE_MS;
    truth.leaves('server-1', '1.36');
    expect(truth.serves(NEW)).toBe(true);
    truth.entered('server-1', '1.36');
    expect(truth.isSettledSince(NEW, sinceMs)).toBe(true);
  });

  it('stops serving a resource when its last server is about to change its version', () => {
    const { truth, upgradeFirst } = setUp();
    upgradeFirst();
    truth.leaves('server-1', '1.35');
    expect(truth.serves(NEW)).toBe(false);
    expect(truth.serves(COMMON)).toBe(true);
  });

  it('is settled some time after a change, and always for resources that never changed', async () => {
    const { clock, truth, upgradeFirst } = setUp();
    upgradeFirst();
    expect(truth.isSettledSince(COMMON, clock.nowMs())).toBe(true);
    expect(truth.isSettledSince(NEW, clock.nowMs() + SETTLE_MS - 1)).toBe(false);
    expect(truth.isSettledSince(NEW, clock.nowMs() + SETTLE_MS)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { DiscoveryLooks } from './discovery-looks.js';
import { HalfRecord } from './half-record.js';
import { SETTLE_MS, ServedTruth } from './served-truth.js';

const access = { url: '', caPem: '', certPem: '', keyPem: '' };

function documentOf(...resources: string[]): GroupDiscovery[] {
  return [
    { metadata: { name: 'g' }, versions: [{ version: 'v1', resources: resources.map((resource) => ({ resource })) }] },
  ];
}

async function setUp() {
  const clock = new ManualClock();
  const servers = ['server-1', 'server-2'].map((name) => ({ name, version: 'old', access }));
  const truth = new ServedTruth(clock, servers);
  truth.learn('old', ['g/v1/known']);
  truth.entered('server-1', 'new');
  truth.learn('new', ['g/v1/known', 'g/v1/added']);
  const record = new HalfRecord(clock);
  const looks = new DiscoveryLooks('client-1', truth, record);
  const see = (...resources: string[]): void => looks.see(documentOf(...resources), clock.nowMs());
  const result = () => record.result({ proxy: false, leftInStore: 0, counts: NO_COUNTS }).findings.discoveryFlaps;
  return { clock, truth, see, flaps: result };
}

const NONE = { bad: 0, of: 0 };
const NO_COUNTS = { collectedByMistake: NONE, notCollected: NONE, namespacesEndedEarly: NONE, namespacesStuck: NONE };

describe('DiscoveryLooks', () => {
  it('counts a resource that disappears and one that reappears although no server changed', async () => {
    const { clock, see, flaps } = await setUp();
    await clock.advance(SETTLE_MS);
    see('known', 'added');
    see('known');
    see('known');
    see('known', 'added');
    expect(flaps()).toBe(2);
  });

  it('does not count a resource of a version that has just started, nor one that no version serves', async () => {
    const { clock, see, flaps } = await setUp();
    see('known');
    see('known', 'added', 'custom');
    see('known');
    expect(flaps()).toBe(0);
    await clock.advance(SETTLE_MS);
    see('known', 'custom');
    see('known');
    expect(flaps()).toBe(0);
  });

  it('does not count a resource whose last server is replaced', async () => {
    const { clock, truth, see, flaps } = await setUp();
    await clock.advance(SETTLE_MS);
    see('known', 'added');
    truth.leaves('server-1', 'old');
    see('known');
    expect(flaps()).toBe(0);
  });

  it('counts a resource of all servers that disappears', async () => {
    const { see, flaps } = await setUp();
    see('known');
    see();
    expect(flaps()).toBe(1);
  });
});

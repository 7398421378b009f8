import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { createEndpointSource } from './endpoint-source.js';
import { FakeApi } from './fake-server.fixture.js';
import { IDENTITY_LABEL, LEASES_MAX, type Lease, LeaseSource } from './lease-source.js';
import type { PeerSource } from './peer-source.js';
import type { Sighting } from './sightings.js';
import { StraddleLease, type StraddleLeaseOptions, straddleLeaseName } from './straddle-lease.js';

let api: FakeApi;
let clock: ManualClock;
let warnings: string[];
const closing: { close(): Promise<void> }[] = [];
const logger = () => ({
  ...silentLogger,
  warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
});

beforeEach(async () => {
  api = await FakeApi.start();
  clock = new ManualClock();
  warnings = [];
});
afterEach(async () => {
  for (const item of closing.splice(0)) await item.close();
  await api.close();
});

function lease(
  name: string,
  kind: string,
  more: { annotations?: Record<string, string>; renewTime?: string; seconds?: number; holder?: string } = {},
): Lease {
  return {
    metadata: {
      name,
      labels: { [IDENTITY_LABEL]: kind, 'kubernetes.io/hostname': name },
      annotations: more.annotations ?? {},
    },
    spec: {
      holderIdentity: more.holder ?? name,
      leaseDurationSeconds: more.seconds ?? 40,
      renewTime: more.renewTime ?? '2030-01-01T00:00:00.000000Z',
    },
  };
}

async function started<T extends PeerSource>(source: T): Promise<T> {
  closing.push(source);
  source.start(() => {});
  await until(() => source.answered(), 'the source to answer');
  return source;
}
const leases = () => started(new LeaseSource({ client: api.client(clock), clock, logger: logger() }));
const hosts = (source: PeerSource) => source.sightings().map((s) => s.hostname);
const watching = () => until(() => api.watchers.size === 1, 'a watch');

describe('LeaseSource', () => {
  it('clamps a renewal in the future to the local time', async () => {
    api.put(lease('b', 'kube-apiserver', { renewTime: '2999-01-01T00:00:00.000000Z' }));
    const source = await leases();
    expect(source.sightings()).toMatchObject([{ hostname: 'b', renewedAtMs: clock.nowMs() }]);
  });

  it('keeps leases of servers that have answered before when the bound is reached', async () => {
    for (let i = 0; i < LEASES_MAX; i++) api.put(lease(`a-${i}`, 'kube-apiserver'));
    api.put(lease('b', 'kube-apiserver'));
    const isKnown = ({ hostname }: Sighting) => hostname === 'b';
    const source = await started(new LeaseSource({ client: api.client(clock), clock, logger: logger(), isKnown }));
    expect(source.sightings()).toHaveLength(LEASES_MAX);
    expect(hosts(source)).toContain('b');
    expect(warnings).toEqual([expect.stringContaining('too many identity leases')]);
  });

  it('lists leases, then follows additions and deletions', async () => {
    api.put(
      lease('b', 'straddle', {
        annotations: {
          'kubernetes.io/peer-advertise-address': '10.0.0.2:7443',
          'straddle.dev/upstream': '[fd00::2]:6443',
        },
      }),
    );
    const source = await leases();
    expect(source.sightings()).toMatchObject([
      { kind: 'straddle', hostname: 'b', address: '10.0.0.2:7443', upstreamAddress: '[fd00::2]:6443' },
    ]);
    await watching();
    api.put(lease('c', 'kube-apiserver'));
    await until(() => source.sightings().length === 2);
    api.remove('b');
    await until(() => source.sightings().length === 1);
    expect(hosts(source)).toEqual(['c']);
  });

  it('expires a lease by the local clock, not by that of its holder', async () => {
    api.put(lease('b', 'straddle', { renewTime: '1999-01-01T00:00:00.000000Z' }));
    const source = await leases();
    await watching();
    await clock.advance(30_000);
    api.put(
      lease('b', 'straddle', {
        renewTime: '1999-01-01T00:00:30.000000Z',
        annotations: { 'kubernetes.io/peer-advertise-address': '10.0.0.2:1' },
      }),
    );
    await until(() => source.sightings()[0]?.address !== undefined);
    await clock.advance(39_999);
    expect(hosts(source)).toEqual(['b']);
    await clock.advance(1);
    expect(hosts(source)).toEqual([]);
  });

  it('ignores a malformed address, logs it once, and reads forget marks', async () => {
    api.put(lease('b', 'straddle', { annotations: { 'kubernetes.io/peer-advertise-address': 'evil.example:443' } }));
    api.put(lease('f', 'straddle-forget', { holder: 'B' }));
    const source = await leases();
    expect(source.sightings()).toMatchObject([{ hostname: 'b' }]);
    expect(source.sightings()[0]!.address).toBeUndefined();
    expect(source.forgetMarks()).toEqual([{ identity: 'b', atMs: Date.UTC(2030, 0, 1) }]);
    expect(warnings.filter((line) => line.includes('evil.example'))).toHaveLength(1);
  });

  it('logs a missing right once, counts as answered, and retries', async () => {
    api.failWith = { code: 403, reason: 'Forbidden', message: 'no' };
    const source = await leases();
    expect(source.sightings()).toEqual([]);
    await clock.advance(40_000);
    await until(() => api.log.length >= 2, 'another attempt');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('missing right to list leases.coordination.k8s.io in namespace kube-system');
    api.failWith = undefined;
    api.put(lease('b', 'straddle'));
    for (let i = 0; i < 10 && source.sightings().length === 0; i++) await clock.advance(10_000);
    await until(() => source.sightings().length === 1);
  });

  it('resumes an ended watch from the last event, and lists again after 410', async () => {
    const source = await leases();
    await watching();
    api.put(lease('b', 'straddle'));
    await until(() => source.sightings().length === 1);
    for (const watcher of api.watchers) watcher.end();
    await until(() => api.watchers.size === 0);
    for (let i = 0; i < 20 && api.watchers.size === 0; i++) await clock.advance(100);
    await watching();
    expect(api.log.at(-1)).toMatch(/^WATCH 101 /);
    api.emit('BOOKMARK', { metadata: { resourceVersion: '150' } });
    api.emit('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    const listsBefore = api.log.filter((line) => line.startsWith('GET')).length;
    for (let i = 0; i < 40 && api.log.filter((line) => line.startsWith('GET')).length === listsBefore; i++)
      await clock.advance(100);
    expect(api.log.filter((line) => line.startsWith('GET'))).toHaveLength(listsBefore + 1);
    expect(hosts(source)).toEqual(['b']);
  });
});

describe('endpoint source', () => {
  it('reports ready addresses with the https port, and ignores malformed ones', async () => {
    api.put({
      metadata: { name: 'kubernetes' },
      ports: [{ name: 'https', port: 6443 }],
      endpoints: [
        { addresses: ['10.0.0.2'], conditions: { ready: true } },
        { addresses: ['fd00::3'] },
        { addresses: ['10.0.0.4'], conditions: { ready: false } },
        { addresses: ['nonsense'] },
      ],
    } as never);
    const source = await started(createEndpointSource({ client: api.client(clock), logger: logger() }));
    expect(source.sightings().map((s) => s.address)).toEqual(['10.0.0.2:6443', '[fd00::3]:6443']);
    expect(warnings).toHaveLength(1);
    await watching();
    api.remove('kubernetes');
    await until(() => source.sightings().length === 0);
  });
});

describe('StraddleLease', () => {
  const createLease = (more: Partial<StraddleLeaseOptions> = {}) =>
    new StraddleLease({
      client: api.client(clock),
      clock,
      logger: logger(),
      serverName: 'a',
      advertiseAddress: '10.0.0.1:7443',
      upstreamAddress: '10.0.0.1:6443',
      ...more,
    });
  const stored = () => api.objects.get(straddleLeaseName('a')) as Lease | undefined;

  it('creates the lease at start, renews it, and deletes it on close', async () => {
    const mine = createLease();
    await mine.start();
    expect(stored()).toMatchObject({
      metadata: {
        labels: { [IDENTITY_LABEL]: 'straddle', 'kubernetes.io/hostname': 'a' },
        annotations: {
          'kubernetes.io/peer-advertise-address': '10.0.0.1:7443',
          'straddle.dev/upstream': '10.0.0.1:6443',
        },
      },
      spec: { leaseDurationSeconds: 40, renewTime: '2030-01-01T00:00:00.000000Z' },
    });
    await clock.advance(10_000);
    await until(() => stored()!.spec!.renewTime === '2030-01-01T00:00:10.000000Z');
    await mine.close();
    expect(stored()).toBeUndefined();
  });

  it('says with each renewal whether its API server is reached through it only', async () => {
    let isBehind = true;
    const mine = createLease({ isUpstreamBehind: async () => isBehind });
    await mine.start();
    const source = await leases();
    expect(source.sightings()).toMatchObject([{ upstreamAddress: '10.0.0.1:6443', isBehindStraddle: true }]);
    isBehind = false;
    await watching();
    await clock.advance(10_000);
    await until(() => source.sightings()[0]?.isBehindStraddle === undefined);
    expect(stored()!.metadata.annotations).not.toHaveProperty('straddle.dev/upstream-listens');
    await mine.close();
  });

  it('takes over the lease of a killed process, and deletes other stale leases of this server only', async () => {
    api.put(lease(straddleLeaseName('a'), 'straddle', { holder: 'killed' }));
    api.put({
      ...lease('old-form', 'straddle', { annotations: { 'kubernetes.io/peer-advertise-address': '10.0.0.1:7443' } }),
    });
    api.put(lease('b', 'straddle'));
    const mine = createLease();
    await mine.start();
    expect(stored()!.spec).toMatchObject({ leaseTransitions: 1 });
    expect(stored()!.spec!.holderIdentity).toMatch(/^a_/);
    expect([...api.objects.keys()].sort()).toEqual(['b', straddleLeaseName('a')].sort());
    await mine.close();
  });

  it('does not delete the lease on close if a successor holds it', async () => {
    const mine = createLease();
    await mine.start();
    api.put({ ...stored()!, spec: { ...stored()!.spec, holderIdentity: 'successor' } } as Lease);
    await mine.close();
    expect(stored()!.spec!.holderIdentity).toBe('successor');
  });

  it('retries slowly, with one warning, while the right is missing', async () => {
    api.failWith = { code: 403, reason: 'Forbidden', message: 'no' };
    const mine = createLease();
    await mine.start();
    await clock.advance(60_000);
    await until(() => api.log.length === 2);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('missing right to create leases.coordination.k8s.io');
    api.failWith = undefined;
    await until(() => clock.pending > 0);
    await clock.advance(60_000);
    await until(() => stored() !== undefined);
    await mine.close();
  });
});

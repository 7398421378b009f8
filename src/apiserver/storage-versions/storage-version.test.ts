import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { builtInStrategies } from '../built-in-strategies.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { builtInTypes } from '../registry/built-in-types.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { parseRuntimeConfig } from '../surfaces/runtime-config.js';
import { apiServerId } from './api-server-id.js';
import { DepartedServers } from './departed-servers.js';
import { type ServerStorageVersion, settledEntries, storedResources, withEntries } from './storage-version.js';

describe('the API server ID', () => {
  it('is equal to that of a kube-apiserver with the same host name', () => {
    // Seen on a real kube-apiserver 1.36.4.
    expect(apiServerId('recorded')).toBe('apiserver-b3pc624raf3aokrfito3tshzby');
  });
});

describe('the stored resources of a server', () => {
  it('are listed with the versions that it writes, reads and serves', async () => {
    const surface = await loadSurface('1.36');
    const { types } = builtInTypes(surface, {
      runtimeConfig: parseRuntimeConfig(['batch/v1=false', 'internal.apiserver.k8s.io/v1alpha1=true']),
      strategyOf: builtInStrategies({ surface, serviceCidr: '10.0.0.0/24', builtInAt: () => undefined }),
      eventTtlSeconds: 1,
    });
    const stored = storedResources('me', types, { groups: surface.groups, objects: new FakeObjects() });
    expect(stored.get('core.pods')).toEqual({
      apiServerID: 'me',
      encodingVersion: 'v1',
      decodableVersions: ['v1'],
      servedVersions: ['v1'],
    });
    expect(stored.get('core.events')).toMatchObject({
      encodingVersion: 'v1',
      decodableVersions: ['v1', 'events.k8s.io/v1'],
      servedVersions: ['v1'],
    });
    expect(stored.get('autoscaling.horizontalpodautoscalers')).toMatchObject({
      encodingVersion: 'autoscaling/v2',
      decodableVersions: ['autoscaling/v2', 'autoscaling/v1'],
      servedVersions: ['autoscaling/v2', 'autoscaling/v1'],
    });
    expect(stored.has('internal.apiserver.k8s.io.storageversions')).toBe(true);
    expect(stored.has('events.k8s.io.events')).toBe(false);
    expect(stored.has('batch.jobs')).toBe(false);
  });
});

const entry = (apiServerID: string, encodingVersion: string): ServerStorageVersion => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
  servedVersions: [encodingVersion],
});

describe('the entries of a StorageVersion', () => {
  it('include those of other servers in their order, except departed ones', () => {
    const before = [entry('old', 'v1'), entry('me', 'v1'), entry('other', 'v1')];
    const local = { id: 'me', entry: entry('me', 'v2') };
    expect(settledEntries(before, local, (id) => id === 'old')).toEqual([entry('me', 'v2'), entry('other', 'v1')]);
    expect(settledEntries([], local, () => true)).toEqual([entry('me', 'v2')]);
    expect(settledEntries(before, { id: 'me', entry: undefined }, () => true)).toEqual([]);
  });

  it('have a common version and its transition time if all servers write the same', () => {
    const at = (object: JsonObject, entries: ServerStorageVersion[], now: string) =>
      withEntries(object, entries, now)['status'] as JsonObject;
    const first = withEntries({}, [entry('a', 'v1')], '1');
    expect(first['status']).toEqual({
      storageVersions: [entry('a', 'v1')],
      commonEncodingVersion: 'v1',
      conditions: [
        {
          type: 'AllEncodingVersionsEqual',
          status: 'True',
          lastTransitionTime: '1',
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set',
        },
      ],
    });
    const since = (status: JsonObject) => {
      const [condition] = status['conditions'] as JsonObject[];
      return `${condition!['status']} since ${condition!['lastTransitionTime']}`;
    };
    expect(since(at(first, [entry('a', 'v1'), entry('b', 'v1')], '2'))).toBe('True since 1');
    const mixed = at(first, [entry('a', 'v1'), entry('b', 'v2')], '3');
    expect(mixed['commonEncodingVersion']).toBeUndefined();
    expect(since(mixed)).toBe('False since 3');
    expect(since(at(first, [entry('a', 'v2')], '4'))).toBe('True since 4');
  });
});

describe('departed servers', () => {
  const lease = (labels: JsonObject, name: string, renewTime: string, leaseDurationSeconds = 40): JsonObject => ({
    metadata: { name, namespace: 'kube-system', labels },
    spec: { renewTime, leaseDurationSeconds },
  });
  const NOW = Date.parse('2030-01-01T00:01:00Z');

  it('are those with an expired lease, or without one after the grace period', () => {
    const departed = new DepartedServers();
    const leases = [
      lease({ 'apiserver.kubernetes.io/identity': 'kube-apiserver' }, 'apiserver-old', '2030-01-01T00:00:00Z'),
      lease({ 'apiserver.kubernetes.io/identity': 'kube-apiserver' }, 'apiserver-new', '2030-01-01T00:00:30Z'),
      lease(
        { 'apiserver.kubernetes.io/identity': 'straddle', 'kubernetes.io/hostname': 'recorded' },
        'straddle-x',
        '2030-01-01T00:00:59Z',
      ),
    ];
    departed.look(leases, NOW);
    const gone = ['apiserver-old', 'apiserver-new', apiServerId('recorded'), 'apiserver-never'].filter((id) =>
      departed.isGone(id),
    );
    expect(gone).toEqual(['apiserver-old']);
    departed.look(leases.slice(2), NOW + 30_000);
    expect(departed.isGone('apiserver-new'), 'its lease was deleted').toBe(true);
    expect(departed.isGone('apiserver-never')).toBe(false);
    departed.look([], NOW + 60_000);
    expect(departed.isGone('apiserver-never')).toBe(true);
  });
});

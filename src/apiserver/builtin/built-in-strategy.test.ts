import { describe, expect, it } from 'vitest';
import { cloneJson, type JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import type { Strategy } from '../registry/strategy.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { shippedVersions } from '../surfaces/shipped-versions.js';
import { builtInStrategy } from './built-in-strategy.js';

const NOW = '2026-01-01T00:00:00Z';

async function strategyOf(resource: string, options = {}, version = '1.36', group = ''): Promise<Strategy> {
  const surface = await loadSurface(version);
  const listed = surface.resource(group, 'v1', resource)!;
  const { schema } = surface.kind(group, 'v1', listed.kind)!;
  const hasStatus = listed.subresources?.some(({ name }) => name === 'status') ?? false;
  const { kind, namespaced } = listed;
  const place = { group, version: 'v1', resource, kind, namespaced, hasStatus, surfaceVersion: version };
  return builtInStrategy(place, schema, options);
}

describe('the strategy of every built-in kind', () => {
  for (const version of shippedVersions()) {
    it(`sets defaults of an empty object in ${version}, and does not change an object with defaults`, async () => {
      const surface = await loadSurface(version);
      const context = { now: NOW, objects: new FakeObjects() };
      for (const group of surface.groups) {
        for (const { version: served, resources } of group.versions) {
          for (const { name, kind, kindGroup, kindVersion, namespaced, subresources = [] } of resources) {
            const found = surface.kind(kindGroup ?? group.name, kindVersion ?? served, kind);
            if (found === undefined) continue;
            const hasStatus = subresources.some((each) => each.name === 'status');
            const place = { group: group.name, version: served, resource: name, kind, namespaced, hasStatus };
            const strategy = builtInStrategy({ ...place, surfaceVersion: version }, found.schema);
            const made = strategy.setDefaults({ metadata: { name: 'x', uid: 'u' } });
            expect(strategy.setDefaults(cloneJson(made)), name).toEqual(made);
            const prepared = strategy.prepareForCreate(cloneJson(made), context);
            expect(strategy.setDefaults(cloneJson(prepared)), name).toEqual(prepared);
            strategy.validateCreate(prepared, context);
            strategy.validateUpdate(prepared, cloneJson(prepared), context);
            for (const part of strategy.parts.values()) {
              const written = part.prepareForUpdate(cloneJson(prepared), cloneJson(prepared), context);
              part.validateUpdate(written, prepared, context);
            }
          }
        }
      }
    });
  }

  it('does not change its argument when it sets defaults', async () => {
    const strategy = await strategyOf('pods');
    const object: JsonObject = { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'x' }] } };
    const before = cloneJson(object);
    strategy.setDefaults(object);
    expect(object).toEqual(before);
  });
});

describe('defaults that are new in 1.37', () => {
  it.each([
    ['1.36', { partition: 0 }],
    ['1.37', { partition: 0, maxUnavailable: 1 }],
  ])('of StatefulSets in %s are %j for rollingUpdate', async (version, rollingUpdate) => {
    const strategy = await strategyOf('statefulsets', {}, version, 'apps');
    const { spec } = strategy.setDefaults({ metadata: { name: 'x' }, spec: {} }) as { spec: JsonObject };
    expect(spec['updateStrategy']).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  it.each([
    ['1.36', undefined],
    ['1.37', false],
  ])('of CSIDrivers in %s have preventPodSchedulingIfMissing %s', async (version, value) => {
    const strategy = await strategyOf('csidrivers', {}, version, 'storage.k8s.io');
    const { spec } = strategy.setDefaults({ metadata: { name: 'x' } }) as { spec: JsonObject };
    expect(spec['preventPodSchedulingIfMissing']).toBe(value);
  });

  it.each([
    ['1.36', undefined],
    ['1.37', {}],
  ])('of CSINodes in %s have the status %j', async (version, status) => {
    const strategy = await strategyOf('csinodes', {}, version, 'storage.k8s.io');
    const made = strategy.setDefaults({ metadata: { name: 'x' }, spec: { drivers: [] } });
    expect(made['status']).toEqual(status);
  });
});

describe('name validation of built-in kinds', () => {
  it('allows a digit at the start of a Service name since 1.36', async () => {
    expect((await strategyOf('services')).nameProblems('1a', false)).toEqual([]);
    expect((await strategyOf('services', {}, '1.35')).nameProblems('1a', false)).toHaveLength(1);
  });

  it('allows any path segment as the name of a Role', async () => {
    const strategy = await strategyOf('roles', {}, '1.36', 'rbac.authorization.k8s.io');
    expect(strategy.nameProblems('system:node', false)).toEqual([]);
    expect(strategy.nameProblems('a/b', false)).toEqual(["may not contain '/'"]);
  });

  it('allows a hyphen at the end of a generateName prefix', async () => {
    const strategy = await strategyOf('pods');
    expect(strategy.nameProblems('web-', true)).toEqual([]);
    expect(strategy.nameProblems('web-', false)).toHaveLength(1);
  });
});

describe('deletion of pods', () => {
  const pod = (spec: JsonObject, phase: string): JsonObject => ({
    spec: { terminationGracePeriodSeconds: 30, ...spec },
    status: { phase },
  });

  it('has the grace period of the client or of the pod', async () => {
    const strategy = await strategyOf('pods');
    const running = pod({ nodeName: 'n' }, 'Running');
    expect(strategy.gracePeriodSeconds?.(running, undefined)).toBe(30);
    expect(strategy.gracePeriodSeconds?.(running, 5)).toBe(5);
    expect(strategy.gracePeriodSeconds?.(running, -5)).toBe(1);
    expect(strategy.gracePeriodSeconds?.(running, 0)).toBeUndefined();
  });

  it('has no grace period for a pod that is not scheduled or has finished', async () => {
    const strategy = await strategyOf('pods');
    expect(strategy.gracePeriodSeconds?.(pod({}, 'Pending'), 10)).toBeUndefined();
    expect(strategy.gracePeriodSeconds?.(pod({ nodeName: 'n' }, 'Succeeded'), 10)).toBeUndefined();
  });
});

describe('addresses and ports of services', () => {
  const service = (name: string, spec: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', uid: name },
    spec: { ports: [{ port: 80 }], ...spec },
  });

  it('are allocated to one service each, until the range is full', async () => {
    const strategy = await strategyOf('services', { serviceRanges: ['10.7.0.0/29'] });
    const objects = new FakeObjects();
    const context = { now: NOW, objects };
    const given = new Set<string>();
    for (let index = 0; index < 6; index++) {
      const made = strategy.prepareForCreate(strategy.setDefaults(service(`s${index}`)), context);
      expect(strategy.validateCreate(made, context)).toEqual([]);
      given.add(String((made['spec'] as JsonObject)['clusterIP']));
      objects.put({ group: '', resource: 'services' }, made);
    }
    expect([...given].sort()).toEqual(['10.7.0.1', '10.7.0.2', '10.7.0.3', '10.7.0.4', '10.7.0.5', '10.7.0.6']);
    const last = strategy.prepareForCreate(strategy.setDefaults(service('late')), context);
    expect(strategy.validateCreate(last, context)).toMatchObject([
      { field: 'spec.clusterIPs', message: expect.stringContaining('range is full') },
    ]);
  });

  it('are refused if they are allocated to another service', async () => {
    const strategy = await strategyOf('services', { serviceRanges: ['10.8.0.0/24'] });
    const objects = new FakeObjects();
    const context = { now: NOW, objects };
    const wish = { clusterIP: '10.8.0.9' };
    const first = strategy.prepareForCreate(strategy.setDefaults(service('first', wish)), context);
    objects.put({ group: '', resource: 'services' }, first);
    const second = strategy.prepareForCreate(strategy.setDefaults(service('second', wish)), context);
    expect(strategy.validateCreate(second, context)).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.clusterIPs',
        message: 'Invalid value: ["10.8.0.9"]: failed to allocate IP 10.8.0.9: provided IP is already allocated',
      },
    ]);
  });

  it('are of both IP families with PreferDualStack in a dual-stack cluster', async () => {
    const strategy = await strategyOf('services', { serviceRanges: ['10.9.0.0/24', 'fd00::/112'] });
    const context = { now: NOW, objects: new FakeObjects() };
    const wish = { ipFamilyPolicy: 'PreferDualStack' };
    const made = strategy.prepareForCreate(strategy.setDefaults(service('both', wish)), context);
    const { ipFamilies, clusterIPs } = made['spec'] as JsonObject;
    expect(ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(clusterIPs).toEqual([expect.stringMatching(/^10\.9\.0\./), expect.stringMatching(/^fd00::/)]);
    expect(strategy.validateCreate(made, context)).toEqual([]);
  });
});

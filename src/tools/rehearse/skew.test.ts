import { describe, expect, it } from 'vitest';
import type { ResourceKind } from '../../kube/resource-kind.js';
import { findSkew, skewedObject } from './skew.js';

const VERBS = new Set(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']);

function kind(place: string, name: string, more: Partial<ResourceKind> = {}): ResourceKind {
  const [group, version, resource] = place.split('/') as [string, string, string];
  return { key: place, group, version, resource, kind: name, namespaced: true, verbs: VERBS, ...more };
}

const CONFIG_MAPS = kind('/v1/configmaps', 'ConfigMap');
const POD_GROUPS = kind('scheduling.k8s.io/v1alpha2/podgroups', 'PodGroup');
const WORKLOADS = kind('scheduling.k8s.io/v1alpha2/workloads', 'Workload');
const WIDGETS = kind('example.com/v1/widgets', 'Widget');
const CLUSTER = kind('example.com/v1/places', 'Place', { namespaced: false });
const versions = { from: '1.35', to: '1.36', manifests: [], older: [CONFIG_MAPS] };

describe('findSkew', () => {
  it('finds a resource that only the newer version serves, in order of preference', () => {
    const skew = findSkew({ ...versions, newer: [CONFIG_MAPS, CLUSTER, WORKLOADS, POD_GROUPS] });
    expect(skew.name).toBe('podgroups.v1alpha2.scheduling.k8s.io');
    expect(skewedObject(skew, { name: 'a' })).toEqual({
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'PodGroup',
      metadata: { name: 'a' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    });
  });

  it('returns the resource that the user chose', () => {
    const wanted = 'workloads.v1alpha2.scheduling.k8s.io';
    expect(findSkew({ ...versions, newer: [POD_GROUPS, WORKLOADS], wanted }).kind).toBe(WORKLOADS);
  });

  it('prefers a kind of which the user has an object', () => {
    const manifest = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'mine' },
      spec: { size: 3 },
      status: {},
    };
    const skew = findSkew({ ...versions, newer: [POD_GROUPS, WIDGETS], manifests: [manifest] });
    expect(skewedObject(skew, { name: 'a' })).toEqual({ ...manifest, status: undefined, metadata: { name: 'a' } });
  });

  it.each([
    [
      'nothing differs',
      [CONFIG_MAPS, CLUSTER],
      undefined,
      /^The servers of 1\.36 serve no namespaced resource .* --runtime-config/,
    ],
    ['no object is known', [WIDGETS], undefined, /^1\.36 serves widgets\.v1\.example\.com, .* --manifests\.$/],
    [
      'no object of the wanted one is known',
      [WIDGETS],
      'widgets.v1.example.com',
      /^No object of widgets.* --manifests/,
    ],
    [
      'the wanted one is no difference',
      [POD_GROUPS],
      'configmaps.v1',
      /^configmaps\.v1 is no .*; these are: podgroups/,
    ],
  ])('throws one sentence with the next step if %s', (_, newer, wanted, sentence) => {
    expect(() => findSkew({ ...versions, newer, wanted })).toThrow(sentence);
  });
});

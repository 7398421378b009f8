import { describe, expect, it } from 'vitest';
import { aggregated } from '../proxy/peers/fake-server.fixture.js';
import {
  DISCOVERY_BOUNDS,
  DiscoveryDocumentError,
  parseAggregated,
  parseApiVersions,
  parseDiscoveryJson,
  parseGroupList,
  parseResourceList,
} from './discovery-documents.js';

describe('aggregated discovery documents', () => {
  it('keep the first of two entries of one name', () => {
    const document = aggregated({ 'batch/v1/jobs': 'get' });
    const twice = { ...document, items: [...document.items, ...aggregated({ 'batch/v1/jobs': 'list' }).items] };
    const groups = parseAggregated(twice, '/apis');
    expect(groups).toHaveLength(1);
    expect(groups[0]!.versions![0]!.resources![0]!.verbs).toEqual(['get']);
  });

  it.each([
    ['no object', null],
    ['another kind', { kind: 'Status' }],
    ['an unknown version', { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v9', items: [] }],
    ['items that are no list', { ...aggregated({}), items: {} }],
    ['a group that is no object', { ...aggregated({}), items: [5] }],
    ['a version without a name', { ...aggregated({}), items: [{ metadata: { name: 'a' }, versions: [{}] }] }],
    ['a resource with a slash', aggregatedWith({ resource: 'a/b', verbs: [] })],
    ['a resource with a line break', aggregatedWith({ resource: 'a\nb', verbs: [] })],
    ['verbs that are no strings', aggregatedWith({ resource: 'a', verbs: [1] })],
    ['a name beyond the bound', aggregatedWith({ resource: 'a'.repeat(DISCOVERY_BOUNDS.nameCharsMax + 1), verbs: [] })],
    ['too many groups', { ...aggregated({}), items: Array(DISCOVERY_BOUNDS.groupsMax + 1).fill({}) }],
  ])('are refused as a whole for %s', (_, document) => {
    expect(() => parseAggregated(document, '/apis')).toThrow(DiscoveryDocumentError);
  });

  it('are refused with an error that says where they are wrong', () => {
    expect(() => parseAggregated(aggregatedWith({ resource: 'a', verbs: [1] }), '/apis')).toThrow(
      'discovery document /apis items[0].versions[0].resources[0].verbs: is not a name',
    );
    expect(() => parseDiscoveryJson('<html>', '/api')).toThrow('discovery document /api: is not JSON');
  });
});

describe('legacy discovery documents', () => {
  it('give core versions, and groups with the preferred version first', () => {
    expect(parseApiVersions({ kind: 'APIVersions', versions: ['v1'] }, '/api')).toEqual(['v1']);
    const list = {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'autoscaling',
          versions: [{ version: 'v1' }, { version: 'v2' }],
          preferredVersion: { version: 'v2' },
        },
      ],
    };
    expect(parseGroupList(list, '/apis')).toEqual([{ name: 'autoscaling', versions: ['v2', 'v1'] }]);
  });

  it('turn pods/status into a subresource, and make the parent up where it is missing', () => {
    const resources = parseResourceList(
      {
        kind: 'APIResourceList',
        resources: [
          { name: 'pods/status', namespaced: true, kind: 'Pod', verbs: ['get'] },
          { name: 'pods', namespaced: true, kind: 'Pod', singularName: 'pod', verbs: ['list'], shortNames: ['po'] },
          { name: 'services/http_requests', kind: 'MetricValueList', verbs: ['get'] },
        ],
      },
      '/api/v1',
      { group: '', version: 'v1' },
    );
    expect(resources.map((r) => [r.resource, r.verbs, r.subresources?.map((s) => s.subresource)])).toEqual([
      ['pods', ['list'], ['status']],
      ['services', [], ['http_requests']],
    ]);
    expect(resources[0]).toMatchObject({ scope: 'Namespaced', shortNames: ['po'], singularResource: 'pod' });
  });
});

function aggregatedWith(resource: unknown) {
  return {
    ...aggregated({}),
    items: [{ metadata: { name: 'a' }, versions: [{ version: 'v1', resources: [resource] }] }],
  };
}

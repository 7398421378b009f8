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
    ['a group that is not an object', { ...aggregated({}), items: [5] }],
    ['too many groups', { ...aggregated({}), items: Array(DISCOVERY_BOUNDS.groupsMax + 1).fill({}) }],
  ])('are refused as a whole for %s', (_, document) => {
    expect(() => parseAggregated(document, '/apis')).toThrow(DiscoveryDocumentError);
  });

  it('are refused with an error that contains the path', () => {
    expect(() => parseDiscoveryJson('<html>', '/api')).toThrow('discovery document /api: is not JSON');
  });

  const good = {
    metadata: { name: 'apps' },
    versions: [{ version: 'v1', resources: [{ resource: 'a', verbs: ['get'] }] }],
  };
  const parsedBeside = (item: unknown) => parseAggregated({ ...aggregated({}), items: [good, item] }, '/apis');
  const tenant = (resource: object) => ({
    metadata: { name: 'tenant.io' },
    versions: [{ version: 'v1', resources: [resource] }],
  });

  it.each([
    ['a version without a name', { metadata: { name: 'tenant.io' }, versions: [{}] }],
    ['a resource with a slash', tenant({ resource: 'a/b', verbs: [] })],
    ['a resource with a line break', tenant({ resource: 'a\nb', verbs: [] })],
    ['a name beyond the bound', tenant({ resource: 'a'.repeat(DISCOVERY_BOUNDS.nameCharsMax + 1), verbs: [] })],
    ['verbs that are not a list', tenant({ resource: 'a', verbs: 'get' })],
    [
      'too many subresources',
      tenant({
        resource: 'a',
        verbs: [],
        subresources: Array.from({ length: DISCOVERY_BOUNDS.resourcesPerGroupMax }, (_, i) => ({
          subresource: `s${i}`,
        })),
      }),
    ],
  ])('keep the other groups of a server beside %s', (_, item) => {
    const [first, second] = parsedBeside(item);
    expect(first).toMatchObject(good);
    expect(second?.versions ?? []).toEqual(
      second?.versions?.map(({ version }) => ({ version, resources: [], freshness: 'Stale' })) ?? [],
    );
  });

  it('keep a resource without the malformed and excess names of its lists', () => {
    const categories = Array.from({ length: DISCOVERY_BOUNDS.listMax + 1 }, (_, i) => `c${i}`);
    const [, group] = parsedBeside(tenant({ resource: 'a', verbs: ['get', ''], shortNames: ['x y', 'z'], categories }));
    expect(group!.versions![0]!.resources).toEqual([
      { resource: 'a', verbs: ['get'], shortNames: ['z'], categories: categories.slice(0, DISCOVERY_BOUNDS.listMax) },
    ]);
    expect(group!.versions![0]!.freshness).toBeUndefined();
  });

  it('keep all versions of a CRD with more than a hundred', () => {
    const versions = Array.from({ length: 101 }, (_, i) => ({ version: `v${i + 1}`, resources: [] }));
    const [, group] = parsedBeside({ metadata: { name: 'tenant.io' }, versions });
    expect(group!.versions).toHaveLength(101);
  });

  it('are refused as a whole if all groups together have too many resources', () => {
    const resources = Array.from({ length: DISCOVERY_BOUNDS.resourcesPerGroupMax }, (_, i) => ({ resource: `r${i}` }));
    const count = DISCOVERY_BOUNDS.resourcesMax / DISCOVERY_BOUNDS.resourcesPerGroupMax + 1;
    const items = Array.from({ length: count }, (_, i) => ({
      metadata: { name: `g${i}` },
      versions: [{ version: 'v1', resources }],
    }));
    expect(() => parseAggregated({ ...aggregated({}), items }, '/apis')).toThrow('more than 100000 resources');
  });
});

describe('legacy discovery documents', () => {
  it('are read as core versions, and groups with the preferred version first', () => {
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

  it('are read with pods/status as a subresource, and with a parent without verbs if it is missing', () => {
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

import { describe, expect, it } from 'vitest';
import { aggregated } from '../proxy/peers/fake-server.fixture.js';
import {
  buildSurface,
  lostSomething,
  parseAggregated,
  parseApiVersions,
  parseGroupList,
  parseResourceList,
  SURFACE_BOUNDS,
  SurfaceDocumentError,
} from './discovery-documents.js';
import { parseRequestInfo } from './request-info.js';
import { serves } from './surface.js';

const surfaceOf = (resources: Record<string, string>) =>
  buildSurface({ core: [], groups: parseAggregated(aggregated(resources), '/apis'), kubernetesVersion: 'v1.36.4' });
const asks = (method: string, target: string) => parseRequestInfo(method, target)!;

describe('aggregated documents', () => {
  it('are indexed down to subresource and verb', () => {
    const surface = surfaceOf({ 'batch/v1/jobs': 'get list create', 'batch/v1/jobs/status': 'get patch' });
    expect(serves(surface, asks('GET', '/apis/batch/v1/namespaces/a/jobs/x'))).toBe(true);
    expect(serves(surface, asks('DELETE', '/apis/batch/v1/namespaces/a/jobs/x'))).toBe(false);
    expect(serves(surface, asks('PATCH', '/apis/batch/v1/namespaces/a/jobs/x/status'))).toBe(true);
    expect(serves(surface, asks('GET', '/apis/batch/v1/namespaces/a/jobs/x/scale'))).toBe(false);
  });

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
    ['a name beyond the bound', aggregatedWith({ resource: 'a'.repeat(SURFACE_BOUNDS.nameCharsMax + 1), verbs: [] })],
    ['too many groups', { ...aggregated({}), items: Array(SURFACE_BOUNDS.groupsMax + 1).fill({}) }],
  ])('are refused as a whole for %s', (_, document) => {
    expect(() => parseAggregated(document, '/apis')).toThrow(SurfaceDocumentError);
  });

  it('tell whether something was lost', () => {
    const before = surfaceOf({ 'a/v1/x': 'get list', 'a/v1/x/status': 'get' });
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get list', 'a/v1/x/status': 'get', 'b/v1/y': 'get' }))).toBe(
      false,
    );
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get', 'a/v1/x/status': 'get' }))).toBe(true);
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get list' }))).toBe(true);
  });
});

describe('legacy lists', () => {
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

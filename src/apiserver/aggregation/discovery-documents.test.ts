import { describe, expect, it } from 'vitest';
import { DISCOVERY_BOUNDS, DiscoveryDocumentError } from '../../kube/discovery-documents.js';
import { readAggregatedDocument, readLegacyDocument } from './discovery-documents.js';

const aggregatedOf = (resources: unknown): string =>
  JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2beta1',
    items: [{ metadata: { name: 'demo.test' }, versions: [{ version: 'v1', resources }] }],
  });
const legacyOf = (resources: unknown): string => JSON.stringify({ kind: 'APIResourceList', resources });
const NO_KIND = { group: '', version: '', kind: '' };

describe('a discovery document of an aggregated API server', () => {
  it.each(['', '<html>', 'null', '"text"', '7', '[]', '{}', '{"kind":"APIGroupList","groups":[]}'])(
    'is not read as an aggregated one when it is %j',
    (text) => {
      expect(readAggregatedDocument(text, '/apis')).toBeUndefined();
      expect(() => readLegacyDocument(text, '/apis/demo.test/v1')).toThrow('discovery document /apis/demo.test/v1');
    },
  );

  it('is completed with the fields that kube-apiserver always writes', () => {
    const text = aggregatedOf([
      { resource: 'things', verbs: ['get'], extra: {}, subresources: [{ subresource: 'x' }] },
    ]);
    expect(readAggregatedDocument(text, '/apis')!.get('demo.test/v1')).toEqual([
      {
        resource: 'things',
        responseKind: NO_KIND,
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get'],
        subresources: [{ subresource: 'x', responseKind: NO_KIND, verbs: [] }],
      },
    ]);
  });

  it.each([['a version that is not known', '{"kind":"APIGroupDiscoveryList","apiVersion":"v3"}', 'apiVersion "v3"']])(
    'is refused as a whole with a clear error for %s',
    (_, text, message) => {
      expect(() => readAggregatedDocument(text, '/apis')).toThrow(DiscoveryDocumentError);
      expect(() => readAggregatedDocument(text, '/apis')).toThrow(message);
    },
  );

  it.each([
    ['a resource with a slash', [{ resource: 'a/b' }]],
    ['a resource that is not an object', ['x']],
  ])('is used without %s', (_, malformed) => {
    const text = aggregatedOf([...malformed, { resource: 'things', verbs: ['get', 7] }]);
    expect(readAggregatedDocument(text, '/apis')!.get('demo.test/v1')).toMatchObject([
      { resource: 'things', verbs: ['get'] },
    ]);
  });

  it('is used without a version whose resources are not a list', () => {
    expect(readAggregatedDocument(aggregatedOf({}), '/apis')).toEqual(new Map());
  });

  it('is truncated at the bound on resources of a group', () => {
    const max = DISCOVERY_BOUNDS.resourcesPerGroupMax;
    const many = Array.from({ length: max + 1 }, (_, i) => ({ name: `r${i}` }));
    expect(readLegacyDocument(legacyOf(many), '/apis/demo.test/v1')).toHaveLength(max);
  });

  it('may list a subresource without its parent', () => {
    const text = legacyOf([{ name: 'pods/cpu', kind: 'Metric', verbs: ['get'] }]);
    expect(readLegacyDocument(text, '/apis/demo.test/v1')).toEqual([
      {
        resource: 'pods',
        responseKind: NO_KIND,
        verbs: [],
        subresources: [{ subresource: 'cpu', responseKind: { ...NO_KIND, kind: 'Metric' }, verbs: ['get'] }],
      },
    ]);
  });
});

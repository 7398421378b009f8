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

  it('is shown with the fields that kube-apiserver always writes', () => {
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

  it.each([
    ['a version that is not known', '{"kind":"APIGroupDiscoveryList","apiVersion":"v3"}', 'apiVersion "v3"'],
    ['a resource with a slash', aggregatedOf([{ resource: 'a/b' }]), 'has a slash'],
    ['a resource that is no object', aggregatedOf(['x']), 'resources[0]: is not an object'],
    ['a verb that is no text', aggregatedOf([{ resource: 'a', verbs: ['get', 7] }]), 'verbs: is not a name'],
    ['resources that are no list', aggregatedOf({}), 'resources: is not a list'],
  ])('is refused as a whole with a clear error for %s', (_, text, message) => {
    expect(() => readAggregatedDocument(text, '/apis')).toThrow(DiscoveryDocumentError);
    expect(() => readAggregatedDocument(text, '/apis')).toThrow(message);
  });

  it('is refused with more resources than any server has', () => {
    const many = Array.from({ length: DISCOVERY_BOUNDS.resourcesMax + 1 }, (_, i) => ({ name: `r${i}` }));
    expect(() => readLegacyDocument(legacyOf(many), '/apis/demo.test/v1')).toThrow('more than');
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

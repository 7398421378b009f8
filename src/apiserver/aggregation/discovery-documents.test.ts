import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { REMOTE_DISCOVERY_BOUNDS, readAggregatedDocument, readLegacyDocument } from './discovery-documents.js';
import { compareVersions } from './order-groups.js';

describe('discovery documents of servers that nobody vouches for', () => {
  it.each([null, 'text', 7, [], {}, { kind: 'APIGroupDiscoveryList' }, { kind: 'APIGroupList', groups: [] }])(
    'that are something else are not taken: %j',
    (document) => {
      expect(readAggregatedDocument(document as Json)).toBeUndefined();
      expect(readLegacyDocument(document as Json)).toBeUndefined();
    },
  );

  it('bring in only what has the right form', () => {
    const resources: Json = [
      { resource: 'a/b', verbs: ['get'] },
      { resource: 7 },
      'x',
      {
        resource: 'things',
        verbs: ['get', 7, 'list'],
        scope: 'Odd',
        extra: {},
        subresources: [{}, { subresource: 'status' }],
      },
    ];
    const document = {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2beta1',
      items: [null, { metadata: { name: 'demo.test' }, versions: [{ version: 'v1', resources }] }],
    };
    const none = { group: '', version: '', kind: '' };
    expect(readAggregatedDocument(document)!.get('demo.test/v1')).toEqual([
      {
        resource: 'things',
        responseKind: none,
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get', 'list'],
        subresources: [{ subresource: 'status', responseKind: none, verbs: [] }],
      },
    ]);
  });

  it('bring in a bounded number of resources', () => {
    const many = Array.from({ length: REMOTE_DISCOVERY_BOUNDS.resourcesMax + 10 }, (_, i) => ({ name: `r${i}` }));
    const resources = readLegacyDocument({ kind: 'APIResourceList', resources: many });
    expect(resources).toHaveLength(REMOTE_DISCOVERY_BOUNDS.resourcesMax);
  });

  it('may list a subresource without its parent', () => {
    const document = { kind: 'APIResourceList', resources: [{ name: 'pods/cpu', kind: 'Metric', verbs: ['get'] }] };
    expect(readLegacyDocument(document)).toMatchObject([
      { resource: 'pods', verbs: [], subresources: [{ subresource: 'cpu', verbs: ['get'] }] },
    ]);
  });
});

describe('versions of a group', () => {
  it('stand with the stable and newest first', () => {
    const versions = ['v1alpha1', 'zeta', 'v1beta1', 'v10', 'alpha', 'v2', 'v1beta2', 'v2alpha1', 'v1'];
    expect(versions.sort(compareVersions)).toEqual([
      'v10',
      'v2',
      'v1',
      'v1beta2',
      'v1beta1',
      'v2alpha1',
      'v1alpha1',
      'alpha',
      'zeta',
    ]);
  });
});

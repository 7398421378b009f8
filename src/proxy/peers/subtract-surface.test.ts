import { describe, expect, it } from 'vitest';
import type { ResourceDiscovery } from '../../kube/discovery.js';
import { subtractSurface } from './subtract-surface.js';
import { buildSurface } from './surface-documents.js';

const surface = (...resources: ResourceDiscovery[]) =>
  buildSurface({
    core: [{ metadata: {}, versions: [{ version: 'v1', resources }] }],
    groups: [],
    kubernetesVersion: 'v1.36.4',
  });
const pods = (verbs: string[], ...subresources: string[]): ResourceDiscovery => ({
  resource: 'pods',
  verbs,
  subresources: subresources.map((subresource) => ({ subresource, verbs: ['get', 'patch'] })),
});

describe('subtractSurface', () => {
  it('returns the same object where no resource overlaps', () => {
    const had = surface(pods(['get']));
    expect(subtractSurface(had, surface({ resource: 'nodes', verbs: ['get'] }))).toBe(had);
  });

  it('returns an empty surface where the other server serves the same', () => {
    const left = subtractSurface(surface(pods(['get'], 'status')), surface(pods(['get', 'list'], 'status', 'resize')));
    expect(left.resources.size).toBe(0);
    expect(left.core).toEqual([]);
  });

  it('keeps the subresources and verbs that the other server lacks', () => {
    const left = subtractSurface(surface(pods(['get', 'list'], 'status', 'resize')), surface(pods(['get'], 'status')));
    const served = left.resources.get('/v1/pods')!;
    expect([...served.verbs]).toEqual(['list']);
    expect([...served.subresources.keys()]).toEqual(['resize']);
  });

  it('keeps a subresource although no verb of its resource is left', () => {
    const left = subtractSurface(surface(pods(['get'], 'resize')), surface(pods(['get'])));
    expect([...left.resources.get('/v1/pods')!.verbs]).toEqual([]);
    expect([...left.resources.get('/v1/pods')!.subresources.keys()]).toEqual(['resize']);
  });
});

import { describe, expect, it } from 'vitest';
import type { VersionDiscovery } from '../../kube/discovery.js';
import { pathOf } from '../../kube/resource-kind.js';
import { Catalogue } from './resource-catalogue.js';

function version(name: string, more: Partial<VersionDiscovery> = {}): VersionDiscovery {
  const responseKind = { group: 'example.com', version: name, kind: 'Widget' };
  const verbs = ['get', 'list', 'delete', 'watch'];
  return { version: name, resources: [{ resource: 'widgets', responseKind, scope: 'Namespaced', verbs }], ...more };
}

function catalogueOf(versions: readonly VersionDiscovery[], gaps: readonly string[] = []): Catalogue {
  return new Catalogue({ groups: [{ metadata: { name: 'example.com' }, versions }], gaps });
}

describe('the resource catalogue', () => {
  it('prefers the first version of a resource, and finds its kind in every version', () => {
    const catalogue = catalogueOf([version('v1'), version('v1beta1')]);
    expect(catalogue.preferred.map(({ key }) => key)).toEqual(['example.com/v1/widgets']);
    expect(catalogue.ofKind('example.com/v1beta1', 'Widget')?.version).toBe('v1beta1');
    expect(catalogue.ofKind('example.com/v2', 'Widget')).toBeUndefined();
    expect(catalogue.isComplete).toBe(true);
  });

  it('prefers a version that a live server serves to a stale one', () => {
    const catalogue = catalogueOf([version('v2', { freshness: 'Stale' }), version('v1', { freshness: 'Current' })]);
    expect(catalogue.preferred.map(({ key }) => key)).toEqual(['example.com/v1/widgets']);
    expect(catalogue.ofKind('example.com/v2', 'Widget')?.isCurrent).toBe(false);
  });

  it('is incomplete with a stale version, even an empty one, or with an unread server', () => {
    expect(catalogueOf([version('v1', { freshness: 'Stale', resources: [] })]).isComplete).toBe(false);
    expect(catalogueOf([version('v1')], ['what b serves is not known yet']).isComplete).toBe(false);
  });

  it('encodes names in paths', () => {
    const widgets = catalogueOf([version('v1')]).preferred[0]!;
    expect(pathOf(widgets, '')).toBe('/apis/example.com/v1/widgets');
    expect(pathOf(widgets, 'a', 'x/../y?z')).toBe('/apis/example.com/v1/namespaces/a/widgets/x%2F..%2Fy%3Fz');
  });
});

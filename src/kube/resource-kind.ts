import type { GroupDiscovery, VersionDiscovery } from './discovery.js';
import { apiPath, groupVersion, gvrKey } from './gvr.js';

/** A resource as one version serves it. */
export interface ResourceKind {
  /** Tells resources apart, versions included. */
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: ReadonlySet<string>;
}

const CORE_VERBS = new Set(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);

const core = (resource: string, kind: string, namespaced: boolean): ResourceKind => ({
  key: gvrKey('', 'v1', resource),
  group: '',
  version: 'v1',
  resource,
  kind,
  namespaced,
  verbs: CORE_VERBS,
});

/** What every server of every version serves. */
export const CONFIG_MAPS = core('configmaps', 'ConfigMap', true);
export const NAMESPACES = core('namespaces', 'Namespace', false);

export function resourceKindsOf(groups: readonly GroupDiscovery[]): ResourceKind[] {
  return groups.flatMap((group) => (group.versions ?? []).flatMap((version) => kindsOfVersion(group, version)));
}

/** The resources that one version of a group serves. */
export function kindsOfVersion(
  { metadata }: GroupDiscovery,
  { version, resources = [] }: VersionDiscovery,
): ResourceKind[] {
  const group = metadata.name ?? '';
  return resources.map((each) => ({
    key: gvrKey(group, version, each.resource),
    group,
    version,
    resource: each.resource,
    kind: each.responseKind?.kind ?? '',
    namespaced: each.scope === 'Namespaced',
    verbs: new Set(each.verbs ?? []),
  }));
}

export function apiVersionOf({ group, version }: ResourceKind): string {
  return groupVersion(group, version);
}

/** The path of a collection, or of one object in it. */
export function pathOf(kind: ResourceKind, namespace: string, name = ''): string {
  const within = kind.namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${apiPath(kind.group, kind.version)}${within}/${kind.resource}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

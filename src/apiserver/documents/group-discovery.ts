import type {
  GroupDiscovery,
  KindReference,
  ResourceDiscovery,
  SubresourceDiscovery,
  VersionDiscovery,
} from '../../kube/discovery.js';
import { compareApiVersions } from '../../kube/kube-version.js';
import type { ResourceType, Subresource } from '../registry/resource-type.js';
import type { GroupOrder, ServedResources, VirtualResource } from '../registry/served-resources.js';

/** Priorities of kube-apiserver's APIServices for custom resources. */
const CUSTOM_GROUP_PRIORITY = 1_000;
const CUSTOM_VERSION_PRIORITY = 100;
/** Priorities of built-in groups, in descending steps. */
const BUILT_IN_GROUP_PRIORITY = 18_000;
const BUILT_IN_GROUP_STEP = 50;
const BUILT_IN_VERSION_PRIORITY = 1_000;
/** kube-apiserver's order of the verbs of custom resources; others are sorted. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const CUSTOM_SUBRESOURCES = ['status', 'scale'];

export type Discoverable = VirtualResource | ResourceType;

export function isCustom(each: Discoverable): boolean {
  return 'origin' in each && each.origin === 'custom';
}

interface RankedVersion {
  readonly discovery: VersionDiscovery;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

/** Makes aggregated discovery in kube-apiserver's order, the core group first. */
export function groupDiscovery(served: ServedResources): readonly GroupDiscovery[] {
  const groups = rankedVersions(served);
  const priority = (name: string): number => Math.max(...groups.get(name)!.map((each) => each.groupPriority));
  const names = [...groups.keys()].sort(
    (left, right) =>
      Number(right === '') - Number(left === '') || priority(right) - priority(left) || (left < right ? -1 : 1),
  );
  return names.map((name) => ({
    metadata: name === '' ? {} : { name },
    versions: groups
      .get(name)!
      .sort(
        (left, right) =>
          right.versionPriority - left.versionPriority ||
          compareApiVersions(left.discovery.version, right.discovery.version),
      )
      .map(({ discovery }) => discovery),
  }));
}

function rankedVersions({ types, virtual, aggregated, order }: ServedResources): Map<string, RankedVersion[]> {
  const groups = new Map<string, RankedVersion[]>();
  for (const each of byGroupVersion([...types, ...virtual])) {
    const { group, version, resources } = each;
    const ranked: RankedVersion = {
      discovery: { version, resources: resources.map(resourceDiscovery), freshness: 'Current' },
      ...priorities(group, version, order),
    };
    groups.set(group, [...(groups.get(group) ?? []), ranked]);
  }
  for (const { group, ...ranked } of aggregated) {
    const known = groups.get(group) ?? [];
    // Versions that this server serves itself have precedence.
    if (known.some(({ discovery }) => discovery.version === ranked.discovery.version)) continue;
    groups.set(group, [...known, ranked]);
  }
  return groups;
}

export interface VersionResources {
  readonly group: string;
  readonly version: string;
  /** Sorted by name. */
  readonly resources: readonly Discoverable[];
}

export function byGroupVersion(resources: readonly Discoverable[]): readonly VersionResources[] {
  const versions = new Map<string, { group: string; version: string; resources: Discoverable[] }>();
  for (const each of resources) {
    const key = `${each.group}/${each.version}`;
    const known = versions.get(key);
    if (known) known.resources.push(each);
    else versions.set(key, { group: each.group, version: each.version, resources: [each] });
  }
  for (const { resources: list } of versions.values()) {
    list.sort((left, right) => (left.resource < right.resource ? -1 : left.resource > right.resource ? 1 : 0));
  }
  return [...versions.values()];
}

function priorities(group: string, version: string, order: GroupOrder) {
  const groupAt = order.findIndex(({ name }) => name === group);
  const versionAt = groupAt < 0 ? -1 : order[groupAt]!.versions.findIndex((each) => each.version === version);
  return {
    groupPriority: groupAt < 0 ? CUSTOM_GROUP_PRIORITY : BUILT_IN_GROUP_PRIORITY - groupAt * BUILT_IN_GROUP_STEP,
    versionPriority: versionAt < 0 ? CUSTOM_VERSION_PRIORITY : BUILT_IN_VERSION_PRIORITY - versionAt,
  };
}

export function resourceDiscovery(each: Discoverable): ResourceDiscovery {
  const subresources = subresourcesOf(each);
  return {
    resource: each.resource,
    responseKind: kindReference(each, { kindGroup: each.group, kindVersion: each.version, kind: each.kind }),
    scope: each.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: each.singular,
    verbs: verbsOf(each),
    ...(each.shortNames.length > 0 ? { shortNames: each.shortNames } : {}),
    ...(each.categories.length > 0 ? { categories: each.categories } : {}),
    ...(subresources.length > 0 ? { subresources: subresources.map((sub) => subresourceDiscovery(each, sub)) } : {}),
  };
}

function subresourceDiscovery(parent: Discoverable, sub: Subresource): SubresourceDiscovery {
  return { subresource: sub.name, responseKind: kindReference(parent, sub), verbs: [...sub.verbs].sort() };
}

/** kube-apiserver omits group and version of a built-in kind if they are those of the resource. */
function kindReference(
  parent: Discoverable,
  { kindGroup, kindVersion, kind }: Pick<Subresource, 'kindGroup' | 'kindVersion' | 'kind'>,
): KindReference {
  const isSame = kindGroup === parent.group && kindVersion === parent.version;
  return isSame && !isCustom(parent)
    ? { group: '', version: '', kind }
    : { group: kindGroup, version: kindVersion, kind };
}

function verbsOf(each: Discoverable): readonly string[] {
  const verbs = [...each.verbs].sort();
  return isCustom(each) ? inOrder(verbs, CUSTOM_VERBS) : verbs;
}

/** Returns built-in subresources by name, those of custom resources in kube-apiserver's order. */
export function subresourcesOf(each: Discoverable): readonly Subresource[] {
  const names = [...each.subresources.keys()].sort();
  const ordered = isCustom(each) ? inOrder(names, CUSTOM_SUBRESOURCES) : names;
  return ordered.map((name) => each.subresources.get(name)!);
}

function inOrder(names: readonly string[], order: readonly string[]): readonly string[] {
  return [...order.filter((name) => names.includes(name)), ...names.filter((name) => !order.includes(name))];
}

import type {
  GroupDiscovery,
  KindReference,
  ResourceDiscovery,
  SubresourceDiscovery,
  VersionDiscovery,
} from '../../kube/discovery.js';
import { compareApiVersions, compareServerVersions } from '../../kube/kube-version.js';
import type { Surface } from '../../kube/surface.js';
import { mergeOrders, orderByFirst } from './group-order.js';

/** The surface of one server as input of a merge. */
export interface ServerSurface {
  /** The same on every server of the control plane. */
  readonly identity: string;
  readonly surface: Surface;
  /** The server departed within the grace period: its resources stay, as stale. */
  readonly departed: boolean;
}

export interface MergedDiscovery {
  /** The core group, of `/api`. */
  readonly core: readonly GroupDiscovery[];
  /** The named groups, of `/apis`. */
  readonly groups: readonly GroupDiscovery[];
}

/**
 * Returns the union of the discovery of several servers. Pure, and independent of the order of
 * `servers` and of the server that computes it: all Straddles of a control plane must reply with
 * the same bytes.
 */
export function mergeDiscovery(servers: readonly ServerSurface[]): MergedDiscovery {
  const ranked = rankServers(servers);
  return {
    core: mergeGroups(ranked, (surface) => surface.core),
    groups: mergeGroups(ranked, (surface) => surface.groups),
  };
}

/** Finds a group-version in merged discovery, or in that of one server. */
export function findVersion(
  { core, groups }: MergedDiscovery,
  group: string,
  version: string,
): VersionDiscovery | undefined {
  const found = (group === '' ? core : groups).find(({ metadata }) => (metadata.name ?? '') === group);
  return found?.versions?.find((candidate) => candidate.version === version);
}

/** Sorts servers by precedence, independent of their order. */
export function rankServers(servers: readonly ServerSurface[]): readonly ServerSurface[] {
  return [...servers].sort(byPrecedence);
}

/**
 * Precedence for fields with a single value: live before departed, then the newest version, then
 * identity. The content breaks remaining ties, so that the result is deterministic even for two
 * servers of one identity.
 */
function byPrecedence(a: ServerSurface, b: ServerSurface): number {
  return (
    Number(a.departed) - Number(b.departed) ||
    compareServerVersions(a.surface.kubernetesVersion, b.surface.kubernetesVersion) ||
    compareStrings(a.identity, b.identity) ||
    compareStrings(JSON.stringify(a.surface.groups), JSON.stringify(b.surface.groups)) ||
    compareStrings(JSON.stringify(a.surface.core), JSON.stringify(b.surface.core))
  );
}

/** A part of a server's discovery, and whether that server has departed. */
interface Said<T> {
  readonly value: T;
  readonly departed: boolean;
}

function mergeGroups(
  ranked: readonly ServerSurface[],
  pick: (surface: Surface) => readonly GroupDiscovery[],
): GroupDiscovery[] {
  const lists = ranked.map(({ surface, departed }) => pick(surface).map((value) => ({ value, departed })));
  return mergeNamed(lists, (group) => group.metadata.name ?? '', orderByFirst, mergeGroup);
}

function mergeGroup(said: readonly Said<GroupDiscovery>[]): GroupDiscovery {
  const lists = said.map(({ value, departed }) =>
    (value.versions ?? []).map((version) => ({ value: version, departed })),
  );
  const byPriority = (names: readonly (readonly string[])[]) => [...new Set(names.flat())].sort(compareApiVersions);
  const versions = mergeNamed(lists, (version) => version.version, byPriority, mergeVersion);
  const name = said[0]!.value.metadata.name;
  return { metadata: name === undefined ? {} : { name }, versions };
}

function mergeVersion(said: readonly Said<VersionDiscovery>[]): VersionDiscovery {
  const lists = said.map(({ value, departed }) => (value.resources ?? []).map((r) => ({ value: r, departed })));
  const resources = mergeNamed(lists, (resource) => resource.resource, lexicographic, mergeResource);
  const fresh = said.some(({ value, departed }) => !departed && value.freshness !== 'Stale');
  return {
    version: said[0]!.value.version,
    ...(resources.length > 0 ? { resources } : {}),
    freshness: fresh ? 'Current' : 'Stale',
  };
}

function mergeResource(said: readonly Said<ResourceDiscovery>[]): ResourceDiscovery {
  const values = said.map(({ value }) => value);
  const lists = said.map(({ value, departed }) => (value.subresources ?? []).map((s) => ({ value: s, departed })));
  const subresources = mergeNamed(lists, (sub) => sub.subresource, lexicographic, mergeSubresource);
  const responseKind = firstKind(values);
  const scope = firstOf(values, (value) => value.scope);
  const singularResource = firstOf(values, (value) => value.singularResource || undefined);
  const shortNames = union(values, (value) => value.shortNames);
  const categories = union(values, (value) => value.categories);
  return {
    resource: values[0]!.resource,
    ...(responseKind ? { responseKind } : {}),
    ...(scope === undefined ? {} : { scope }),
    singularResource: singularResource ?? '',
    verbs: verbUnion(values),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

function mergeSubresource(said: readonly Said<SubresourceDiscovery>[]): SubresourceDiscovery {
  const values = said.map(({ value }) => value);
  const responseKind = firstKind(values);
  const accepted = new Map<string, KindReference>();
  for (const value of values) {
    for (const kind of value.acceptedTypes ?? []) {
      const key = `${kind.group ?? ''}/${kind.version ?? ''}/${kind.kind ?? ''}`;
      if (!accepted.has(key)) accepted.set(key, canonicalKind(kind));
    }
  }
  return {
    subresource: values[0]!.subresource,
    ...(responseKind ? { responseKind } : {}),
    ...(accepted.size > 0 ? { acceptedTypes: [...accepted.values()] } : {}),
    verbs: verbUnion(values),
  };
}

/**
 * Merges lists of named items: names in one common order; `combine` merges the items of one name,
 * given in order of precedence. `onCycle` orders names whose lists contradict each other.
 */
function mergeNamed<T>(
  lists: readonly (readonly Said<T>[])[],
  nameOf: (value: T) => string,
  onCycle: (names: readonly (readonly string[])[]) => string[],
  combine: (said: readonly Said<T>[]) => T,
): T[] {
  const said = new Map<string, Said<T>[]>();
  const orders: string[][] = [];
  for (const list of lists) {
    const order = new Set<string>();
    for (const part of list) {
      const name = nameOf(part.value);
      order.add(name);
      const known = said.get(name);
      if (known) known.push(part);
      else said.set(name, [part]);
    }
    orders.push([...order]);
  }
  const names = mergeOrders(orders) ?? onCycle(orders);
  return names.map((name) => combine(said.get(name)!));
}

function lexicographic(names: readonly (readonly string[])[]): string[] {
  return [...new Set(names.flat())].sort(compareStrings);
}

function firstOf<T, V>(values: readonly T[], pick: (value: T) => V | undefined): V | undefined {
  for (const value of values) {
    const picked = pick(value);
    if (picked !== undefined) return picked;
  }
  return undefined;
}

/**
 * Returns the first kind. An entry that has only subresources has no kind; another server may have
 * it.
 */
function firstKind(values: readonly { readonly responseKind?: KindReference }[]): KindReference | undefined {
  const named = values.find((value) => value.responseKind?.kind) ?? values.find((value) => value.responseKind);
  return named && canonicalKind(named.responseKind!);
}

/**
 * Returns all three fields in Kubernetes' order: the bytes must not depend on the spelling of a
 * server.
 */
function canonicalKind(kind: KindReference): KindReference {
  return { group: kind.group ?? '', version: kind.version ?? '', kind: kind.kind ?? '' };
}

function union<T>(values: readonly T[], pick: (value: T) => readonly string[] | undefined): string[] {
  const seen = new Set<string>();
  for (const value of values) for (const item of pick(value) ?? []) seen.add(item);
  return [...seen];
}

function verbUnion(values: readonly { readonly verbs?: readonly string[] }[]): string[] {
  return union(values, (value) => value.verbs).sort(compareStrings);
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

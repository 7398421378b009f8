import { type GroupVersionResource, gvrKey, resourceName } from './gvr.js';
import type { Surface } from './surface.js';

/** One resource or subresource, with the verbs of each server. */
export interface MatrixRow extends GroupVersionResource {
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** `pods.v1`, `pods.v1/resize`, `jobs.v1.batch`. */
  readonly name: string;
  /** Verbs by server; a server that does not serve it is missing. */
  readonly servedBy: ReadonlyMap<string, readonly string[]>;
  /** Every server serves it, with the same verbs. */
  readonly alike: boolean;
}

export interface NamedSurface {
  readonly name: string;
  readonly surface: Surface;
}

type ServedBy = { readonly name: string; readonly surface: Pick<Surface, 'resources'> };

/** Returns everything that any server serves, in the order of names. */
export function surfaceMatrix(servers: readonly ServedBy[]): MatrixRow[] {
  const cells = new Map<string, Map<string, readonly string[]>>();
  for (const { name, surface } of servers) {
    for (const [key, verbs] of leavesOf(surface)) {
      const row = cells.get(key) ?? new Map<string, readonly string[]>();
      row.set(name, [...verbs].sort());
      cells.set(key, row);
    }
  }
  return [...cells]
    .map(([key, servedBy]): MatrixRow => {
      const verbs = new Set([...servedBy.values()].map((each) => each.join(',')));
      return {
        ...partsOf(key),
        servedBy,
        alike: servedBy.size === servers.length && verbs.size === 1,
      };
    })
    .sort(byPlace);
}

/** Yields `group/version/resource[/subresource]` and verbs; omits resources without verbs. */
function* leavesOf(surface: ServedBy['surface']): Generator<[string, ReadonlySet<string>]> {
  for (const [key, { verbs, subresources }] of surface.resources) {
    if (verbs.size > 0) yield [key, verbs];
    for (const [name, subresourceVerbs] of subresources) yield [`${key}/${name}`, subresourceVerbs];
  }
}

type Place = GroupVersionResource & { readonly subresource: string };

function byPlace(a: Place, b: Place): number {
  const left = [a.group, a.resource, a.version, a.subresource].join('\u0000');
  const right = [b.group, b.resource, b.version, b.subresource].join('\u0000');
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns names that one surface has and another lacks, with the verbs if only some are lacking. */
export function missingFrom(has: Surface, lacking: Surface): string[] {
  const rows = surfaceMatrix([
    { name: 'has', surface: has },
    { name: 'lacking', surface: lacking },
  ]);
  return rows.flatMap((row) => lackingText(row.name, row.servedBy.get('has'), row.servedBy.get('lacking')) ?? []);
}

export function lackingText(
  name: string,
  wanted: readonly string[] | undefined,
  served: readonly string[] | undefined,
): string | undefined {
  if (!wanted) return undefined;
  if (!served) return name;
  const verbs = wanted.filter((verb) => !served.includes(verb));
  return verbs.length === 0 ? undefined : `${name} (${verbs.join(', ')})`;
}

/** Returns the union of surfaces. */
export function unionOf(surfaces: readonly Surface[]): Surface {
  const resources = new Map<string, { verbs: Set<string>; subresources: Map<string, Set<string>> }>();
  for (const surface of surfaces) {
    for (const [key, { verbs, subresources }] of surface.resources) {
      const into = resources.get(key) ?? { verbs: new Set(), subresources: new Map() };
      resources.set(key, into);
      for (const verb of verbs) into.verbs.add(verb);
      for (const [name, subresourceVerbs] of subresources) {
        into.subresources.set(name, new Set([...(into.subresources.get(name) ?? []), ...subresourceVerbs]));
      }
    }
  }
  return { resources, core: [], groups: [], kubernetesVersion: surfaces[0]?.kubernetesVersion ?? '' };
}

/** Leaves out subresources of resources that are in the list themselves. */
export function withoutParts(names: readonly string[]): string[] {
  const whole = new Set(names);
  return names.filter((name) => !name.includes('/') || !whole.has(name.slice(0, name.indexOf('/'))));
}

/** One resource or subresource that some of the servers serve and others do not. */
export interface DifferingRow extends GroupVersionResource {
  readonly subresource: string;
  /** As in MatrixRow. */
  readonly name: string;
  /** Whether each server serves it, in the order of the servers. */
  readonly served: readonly boolean[];
}

/**
 * Returns what not every server serves, in the order of names, without a look at verbs: 5,000 resources of 50 servers take
 * a few ten milliseconds. `alike` is the number of the others.
 */
export function differingRows(surfaces: readonly Pick<Surface, 'resources'>[]): {
  readonly rows: readonly DifferingRow[];
  readonly alike: number;
} {
  const counts = new Map<string, number>();
  for (const surface of surfaces) {
    for (const [key] of leavesOf(surface)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = [...counts].filter(([, count]) => count < surfaces.length).map(([key]) => differingRow(key, surfaces));
  return { rows: rows.sort(byPlace), alike: counts.size - rows.length };
}

function differingRow(key: string, surfaces: readonly Pick<Surface, 'resources'>[]): DifferingRow {
  const { name, ...parts } = partsOf(key);
  const resource = gvrKey(parts.group, parts.version, parts.resource);
  const isServed = ({ resources }: Pick<Surface, 'resources'>): boolean => {
    const found = resources.get(resource);
    if (!found) return false;
    return parts.subresource === '' ? found.verbs.size > 0 : found.subresources.has(parts.subresource);
  };
  return { ...parts, name, served: surfaces.map(isServed) };
}

/** Returns the names of what one surface has and another one lacks, in no order. */
export function newNames(has: Pick<Surface, 'resources'>, lacking: Pick<Surface, 'resources'>): string[] {
  const names: string[] = [];
  for (const [key, { verbs, subresources }] of has.resources) {
    const known = lacking.resources.get(key);
    if (verbs.size > 0 && !(known && known.verbs.size > 0)) names.push(partsOf(key).name);
    for (const [subresource] of subresources) {
      if (!known?.subresources.has(subresource)) names.push(partsOf(`${key}/${subresource}`).name);
    }
  }
  return names;
}

function partsOf(key: string): GroupVersionResource & { readonly subresource: string; readonly name: string } {
  const [group = '', version = '', resource = '', ...rest] = key.split('/');
  const subresource = rest.join('/');
  const name = `${resourceName({ group, version, resource })}${subresource === '' ? '' : `/${subresource}`}`;
  return { group, version, resource, subresource, name };
}

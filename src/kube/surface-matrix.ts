import { type GroupVersionResource, resourceName } from './gvr.js';
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
export type DifferingRow = Pick<MatrixRow, 'group' | 'version' | 'resource' | 'subresource' | 'name'>;

export interface DifferingRows {
  /** In the order of names. */
  readonly rows: readonly DifferingRow[];
  /** Number of resources and subresources that every server serves. */
  readonly alike: number;
}

/**
 * Returns what not every server serves, without a look at verbs. Yields after each server: 5,000 resources of 50 servers take
 * some hundred milliseconds.
 */
export function* differingRows(surfaces: readonly Pick<Surface, 'resources'>[]): Generator<void, DifferingRows> {
  const counts = new Map<string, ServedCounts>();
  for (const surface of surfaces) {
    count(surface, counts);
    yield;
  }
  const rows: DifferingRow[] = [];
  let alike = 0;
  const judge = (key: string, servedBy: number): void => {
    if (servedBy === surfaces.length) alike += 1;
    else rows.push(partsOf(key));
  };
  for (const [key, { own, subresources }] of counts) {
    if (own > 0) judge(key, own);
    for (const [name, servedBy] of subresources) judge(`${key}/${name}`, servedBy);
  }
  yield;
  return { rows: rows.sort(byPlace), alike };
}

/** The number of surfaces with a resource, and with each of its subresources. */
interface ServedCounts {
  own: number;
  readonly subresources: Map<string, number>;
}

/** Counts without a new string for each subresource, which would take most of the time. */
function count({ resources }: Pick<Surface, 'resources'>, counts: Map<string, ServedCounts>): void {
  for (const [key, { verbs, subresources }] of resources) {
    let counted = counts.get(key);
    if (!counted) {
      counted = { own: 0, subresources: new Map() };
      counts.set(key, counted);
    }
    if (verbs.size > 0) counted.own += 1;
    for (const name of subresources.keys()) {
      counted.subresources.set(name, (counted.subresources.get(name) ?? 0) + 1);
    }
  }
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

function partsOf(key: string): DifferingRow {
  const [group = '', version = '', resource = '', ...rest] = key.split('/');
  const subresource = rest.join('/');
  const name = `${resourceName({ group, version, resource })}${subresource === '' ? '' : `/${subresource}`}`;
  return { group, version, resource, subresource, name };
}

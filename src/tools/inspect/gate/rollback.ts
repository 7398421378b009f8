import type { ServedResource, Surface } from '../../../kube/surface.js';
import { type MatrixRow, surfaceMatrix, unionOf } from '../../../kube/surface-matrix.js';
import type { InspectedServer } from '../inspection.js';
import type { InspectedSurface } from '../surfaces.js';

/** What a minor version serves: by default, and with everything on. */
export interface ShippedVersion {
  readonly byDefault: Surface;
  readonly everything: Surface;
}

/** Returns undefined for a version that does not come with Straddle. */
export type LoadShipped = (minor: string) => Promise<ShippedVersion | undefined>;

/** What goes away with a rollback. */
export interface Rollback {
  /** The version after it: `1.36`. */
  readonly to: string;
  /** Whose word it is: `servers` of that version that run, or the surface that comes with Straddle. */
  readonly source: 'servers' | 'shipped';
  /** Names of resources and subresources that are not served any more. */
  readonly leaving: ReadonlySet<string>;
  /** Resources that are not served any more in any version, so that their objects cannot be reached; one row for each. */
  readonly lost: readonly MatrixRow[];
}

/** Why it is not known what goes away. */
export interface UnknownRollback {
  readonly why: string;
  readonly next: string;
}

export interface RollbackInput {
  readonly servers: readonly InspectedServer[];
  readonly surfaces: readonly InspectedSurface[];
  /** `--to`. */
  readonly to: string | undefined;
  readonly load: LoadShipped;
}

/** Finds what the version after a rollback does not serve: by servers that run it, else by its shipped surface. */
export async function planRollback({
  servers,
  surfaces,
  to,
  load,
}: RollbackInput): Promise<Rollback | UnknownRollback> {
  const byMinor = surfacesByMinor(servers, surfaces);
  const minors = [...byMinor.keys()].sort(compareMinors);
  const [oldest] = minors;
  if (oldest === undefined || byMinor.has('')) {
    return { why: 'the version of a server is not known', next: 'See `straddle status`.' };
  }
  if (to === undefined && minors.length === 1) {
    const which = surfaces.length === 1 ? `the only server is ${oldest}` : `all servers are ${oldest}`;
    return { why: `${which}, so the version to go back to is not known`, next: 'Give it with --to.' };
  }
  const target = to ?? oldest;
  const newer = minors.filter((minor) => compareMinors(minor, target) > 0);
  if (newer.length === 0) {
    return {
      why: `no server is newer than ${target}`,
      next: 'Give the version to go back to with --to, or --for=upgrade.',
    };
  }
  const now = unionOf(newer.flatMap((minor) => byMinor.get(minor)!));
  const running = byMinor.get(target);
  if (running) return rollbackOf({ to: target, source: 'servers', now, after: unionOf(running) });
  const shipped = await load(target);
  const known = await Promise.all(newer.map(load));
  const missing = shipped ? newer.find((_, index) => known[index] === undefined) : target;
  if (!shipped || missing !== undefined) {
    return {
      why: `no server runs ${target}, and what ${missing} serves does not come with Straddle`,
      next: `Keep a server of ${target} until the last moment, or use a release of Straddle that knows ${missing}.`,
    };
  }
  // Custom resources and aggregated APIs do not depend on the version: they are in no shipped surface.
  const builtIn = unionOf(known.flatMap((each) => (each ? [each.everything] : [])));
  const resources = new Map([...now.resources].filter(([key]) => builtIn.resources.has(key)));
  return rollbackOf({ to: target, source: 'shipped', now: { ...now, resources }, after: shipped.byDefault });
}

interface Change {
  readonly to: string;
  readonly source: Rollback['source'];
  readonly now: Pick<Surface, 'resources'>;
  readonly after: Surface;
}

function rollbackOf({ to, source, now, after }: Change): Rollback {
  const rows = surfaceMatrix([
    { name: 'now', surface: now },
    { name: 'after', surface: after },
  ]).filter(({ servedBy }) => !servedBy.has('after'));
  const remaining = new Set([...after.resources].filter(isServed).map(([key]) => anyVersion(key)));
  const lost = new Map<string, MatrixRow>();
  for (const row of rows) {
    const resource = `${row.group}/${row.resource}`;
    if (row.subresource !== '' || !row.servedBy.get('now')?.includes('list')) continue;
    if (!remaining.has(resource) && !lost.has(resource)) lost.set(resource, row);
  }
  return { to, source, leaving: new Set(rows.map(({ name }) => name)), lost: [...lost.values()] };
}

function isServed([, { verbs }]: [string, ServedResource]): boolean {
  return verbs.size > 0;
}

/** `group/version/resource` without the version. */
function anyVersion(key: string): string {
  const [group = '', , resource = ''] = key.split('/');
  return `${group}/${resource}`;
}

/** Returns the local surfaces by the minor version whose API the server emulates, else that of its program. */
function surfacesByMinor(
  servers: readonly InspectedServer[],
  surfaces: readonly InspectedSurface[],
): Map<string, Surface[]> {
  const byMinor = new Map<string, Surface[]>();
  for (const { name, local } of surfaces) {
    const readings = servers.find(({ server }) => server.name === name)?.readings ?? [];
    const emulated = readings.flatMap(({ zpages }) => zpages.statusz.page?.emulationVersion ?? []);
    const minor = minorOf(emulated[0] ?? local.kubernetesVersion);
    byMinor.set(minor, [...(byMinor.get(minor) ?? []), local]);
  }
  return byMinor;
}

function minorOf(version: string): string {
  return /^v?(\d+\.\d+)/.exec(version)?.[1] ?? '';
}

function compareMinors(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true });
}

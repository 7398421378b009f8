import { someNames } from '../../../base/some-names.js';
import { type MatrixRow, missingFrom, surfaceMatrix, unionOf, withoutParts } from '../../../kube/surface-matrix.js';
import { protectorOf } from '../checks/check-line.js';
import { heldResources } from '../held-resources.js';
import type { InspectedServer, Inspection } from '../inspection.js';
import { protectionOf } from '../protection.js';
import type { InspectedSurface, SilentServer } from '../surfaces.js';
import { askForRight, closed, type GateReason, unknown } from './gate-reason.js';

export interface SurfaceFacts {
  readonly inspection: Inspection;
  readonly surfaces: readonly InspectedSurface[];
  readonly silent: readonly SilentServer[];
}

/** Compares what clients of the protected servers see, and that with what is there. */
export function discoveryReasons({ inspection, surfaces, silent }: SurfaceFacts): GateReason[] {
  const isReached = ({ readings }: InspectedServer) => readings.some(({ unreachable }) => unreachable === undefined);
  const reached = new Set(inspection.servers.filter(isReached).map(({ server }) => server.name));
  const unread = [
    ...silent.filter(({ name }) => reached.has(name)),
    ...surfaces.filter(({ merged }) => !merged).map(({ name }) => ({ name, why: 'it has no aggregated discovery' })),
  ];
  const shown = surfaces.flatMap(({ name, merged }) =>
    merged && isProtected(name, inspection) ? [{ name, merged }] : [],
  );
  // What departed servers are remembered for is part of it: a Straddle that was restarted may have forgotten it.
  const whole = unionOf([...surfaces.map(({ local }) => local), ...shown.map(({ merged }) => merged)]);
  const lacking = shown
    .map(({ name, merged }) => ({ name, resources: missingFrom(whole, merged) }))
    .filter(({ resources }) => resources.length > 0);
  return [
    ...unread.map(({ name, why }) =>
      unknown('discovery', {
        detail: `${name}: what it serves is not known (${why})`,
        servers: [name],
        next: askForRight('get the non-resource URLs /api and /apis'),
      }),
    ),
    ...lacking.map(({ name, resources }) =>
      closed('discovery', {
        detail: `the discovery of ${name} lacks ${someNames(resources)}`,
        servers: [name],
        resources,
        next: isNative(name, inspection)
          ? 'Wait for its next look at its peers; kube-apiserver itself merges neither the core group nor custom and aggregated APIs, so put `straddle proxy` before it where it stays like that.'
          : 'Wait some seconds; if it stays, the log of that server says which peer it cannot read.',
      }),
    ),
  ];
}

function isProtected(name: string, inspection: Inspection): boolean {
  const protector = protectorNamed(name, inspection);
  return protector !== undefined && protectionOf(protector).active === true;
}

function isNative(name: string, inspection: Inspection): boolean {
  const protector = protectorNamed(name, inspection);
  return protector !== undefined && protectionOf(protector).kind === 'kube-apiserver';
}

function protectorNamed(name: string, { servers }: Inspection) {
  const found = servers.find(({ server }) => server.name === name);
  return found && protectorOf(found);
}

export interface SoleOptions {
  /** The server that is about to be replaced; undefined: any may be. */
  readonly server: string | undefined;
  /** Resources and subresources that the version after the change does not serve anyway: other reasons judge those. */
  readonly leaving: ReadonlySet<string>;
}

/** Finds APIs that nobody answers for while the server is replaced. */
export function soleServerReasons({ surfaces }: SurfaceFacts, { server, leaving }: SoleOptions): GateReason[] {
  const [only] = surfaces;
  if (only && surfaces.length === 1) {
    if (server !== undefined && server !== only.name) return [];
    const detail = `${only.name} is the only server that answers: nobody serves the API while it is replaced`;
    return [closed('sole-server', { detail, servers: [only.name], next: 'Start another server first.' })];
  }
  const rows = surfaceMatrix(surfaces.map(({ name, local }) => ({ name, surface: local })));
  const byServer = new Map<string, string[]>();
  for (const row of rows) {
    if (leaving.has(row.name)) continue;
    for (const [name, resource] of onlyAt(row)) byServer.set(name, [...(byServer.get(name) ?? []), resource]);
  }
  return [...byServer]
    .filter(([name]) => server === undefined || server === name)
    .map(([name, all]) => {
      const resources = withoutParts(all);
      return closed('sole-server', {
        detail: `only ${name} serves ${someNames(resources)}`,
        servers: [name],
        resources,
        next:
          server === undefined
            ? `Replace another server first and say which with --server, or accept that nobody serves ${resources.length === 1 ? 'it' : 'them'} while ${name} is away (--allow=sole-server).`
            : `Replace another server first, or accept that nobody serves ${resources.length === 1 ? 'it' : 'them'} while ${name} is away (--allow=sole-server).`,
      });
    });
}

/** Yields a server that alone has the resource, or verbs of it. */
function* onlyAt({ name, servedBy }: MatrixRow): Generator<[server: string, resource: string]> {
  const [first] = servedBy;
  if (first && servedBy.size === 1) {
    yield [first[0], name];
    return;
  }
  for (const [server, verbs] of servedBy) {
    const others = new Set([...servedBy].flatMap(([other, theirs]) => (other === server ? [] : theirs)));
    const alone = verbs.filter((verb) => !others.has(verb));
    if (alone.length > 0) yield [server, `${name} (${alone.join(', ')})`];
  }
}

/** Finds APIs in discovery that no live server serves, and the departed servers that are remembered for them. */
export function staleReasons({ inspection, surfaces }: SurfaceFacts): GateReason[] {
  const departed = new Set<string>();
  let count = 0;
  for (const each of inspection.servers) {
    const metrics = protectorOf(each)?.metrics;
    count = Math.max(count, metrics?.sum('straddle_departed_servers') ?? 0);
    for (const { labels } of metrics?.all('straddle_departed_since_seconds') ?? [])
      departed.add(labels.get('server') ?? '');
  }
  const names = [...departed].filter((name) => name !== '').sort();
  const resources = heldResources(surfaces);
  if (count === 0 && resources.length === 0) return [];
  const who = names.length > 0 ? someNames(names) : count > 0 ? `${count} server${count === 1 ? '' : 's'}` : undefined;
  const held =
    resources.length > 0 ? `: ${someNames(resources)} ${resources.length === 1 ? 'is' : 'are'} answered 503` : '';
  return [
    closed('stale-surface', {
      detail:
        who === undefined
          ? `no server serves what discovery shows${held}`
          : `${who} went away and ${names.length === 1 || count === 1 ? 'is' : 'are'} still waited for${held}`,
      servers: names,
      resources,
      next: `Wait until ${who === undefined ? 'discovery is read anew' : 'it is back'}; what will not come back: \`straddle forget ${names[0] ?? '<server>'}\`.`,
    }),
  ];
}

import type { Readable } from 'node:stream';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { gvrKey } from '../../kube/gvr.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import type { ServedResource, Surface } from '../../kube/surface.js';
import type { Peer, PeerDirectory, PeerEndpoint, PeerTable } from '../peers/peer-table.js';
import { buildPeerTable } from '../peers/table-index.js';
import { type Dispatch, Rerouter } from './reroute.js';
import { createRouter, type LocalHost } from './router.js';

/** A surface from `group/version/resource[/subresource]: verbs` pairs. */
export function surfaceOf(served: Readonly<Record<string, string>>, kubernetesVersion = ''): Surface {
  const resources = new Map<string, ServedResource & { subresources: Map<string, Set<string>> }>();
  for (const [path, verbs] of Object.entries(served)) {
    const [group, version, resource, subresource] = path.split('/') as [string, string, string, string?];
    const key = gvrKey(group, version, resource);
    const known = resources.get(key) ?? { verbs: new Set<string>(), subresources: new Map<string, Set<string>>() };
    if (subresource) known.subresources.set(subresource, new Set(verbs.split(' ')));
    resources.set(key, subresource ? known : { ...known, verbs: new Set(verbs.split(' ')) });
  }
  return { resources, core: [], groups: [], kubernetesVersion };
}

export interface PlayedEndpoint extends PeerEndpoint {
  usableNow: boolean;
  readonly reports: string[];
}

export function endpoint(address: string, more: { inFlight?: number; usable?: boolean } = {}): PlayedEndpoint {
  const { inFlight = 0, usable = true } = more;
  const played: PlayedEndpoint = {
    kind: 'kube-apiserver',
    destination: { address, inFlight } as PeerEndpoint['destination'],
    usableNow: usable,
    usable: () => played.usableNow,
    reports: [],
    report: (outcome, why) => {
      played.reports.push(why === undefined ? outcome : `${outcome} ${why}`);
      if (outcome === 'failed') played.usableNow = false;
    },
  };
  return played;
}

export function peer(identity: string, surface: Surface | undefined, ...endpoints: PeerEndpoint[]): Peer {
  return { identity, surface, endpoints: endpoints.length > 0 ? endpoints : [endpoint(`${identity}:6443`)] };
}

export function tableOf(peers: readonly Peer[], departed: Readonly<Record<string, Surface>> = {}): PeerTable {
  return buildPeerTable({
    peers,
    unread: peers.filter(({ surface }) => surface === undefined),
    departed: Object.entries(departed).map(([identity, surface]) => ({ identity, surface, departedAtMs: 0 })),
  });
}

export function ask(method: string, target: string, body: Readable | null = null, upgrade = false): Exchange {
  const connection = { remoteAddress: '127.0.0.1', certificateChain: [] };
  const exchange = new Exchange({ method, target, headers: [], body, connection, upgrade }, 0);
  exchange.info = parseRequestInfo(method, target)!;
  return exchange;
}

export function answer(status = 200, contentType = 'application/json'): Reply {
  return { status, headers: ['Content-Type', contentType], body: Buffer.from('{}') };
}

export const UNKNOWN = answer(404, 'text/plain; charset=utf-8');

/** A router over a host and peers that behave as a test says. */
export function routing(options: {
  readonly table: PeerTable | (() => PeerTable);
  readonly dispatch?: Dispatch;
  readonly host?: Partial<LocalHost>;
  readonly local?: Surface | (() => Surface);
  readonly onRefreshLocal?: () => void;
  readonly onRefreshPeer?: (identity: string) => void;
  readonly attemptsMax?: number;
  readonly rerouteUnknownOptions?: boolean;
  readonly mayContinue?: () => boolean;
}) {
  const clock = new ManualClock();
  const metrics = createMetrics();
  const refreshed: string[] = [];
  const { table } = options;
  const directory: PeerDirectory = {
    snapshot: typeof table === 'function' ? table : () => table,
    onChange: () => () => {},
    synced: () => true,
    refresh: async ({ identity }) => {
      refreshed.push(identity);
      options.onRefreshPeer?.(identity);
    },
  };
  const dispatch: Dispatch = options.dispatch ?? (async () => answer());
  const common = { directory, clock, metrics, logger: silentLogger };
  const rerouter = new Rerouter({ ...common, dispatch, attemptsMax: options.attemptsMax ?? 3 });
  const host: LocalHost = {
    readsBodies: false,
    handle: async () => answer(),
    ready: () => true,
    ...options.host,
  };
  const handler = createRouter({
    ...common,
    host,
    localSurface: () => (typeof options.local === 'function' ? options.local() : options.local),
    refreshLocal: async () => options.onRefreshLocal?.(),
    rerouter,
    rerouteUnknownOptions: options.rerouteUnknownOptions ?? true,
    mayContinue: options.mayContinue ?? (() => true),
  });
  const count = (line: string) => metrics.registry.render().includes(line);
  return { handler, rerouter, refreshed, count };
}

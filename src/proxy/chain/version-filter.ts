import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { documentReply, KUBE_APISERVER_GZIP, ReadyDocument } from '../../http/ready-document.js';
import { compareServerVersions, isServerVersion } from '../../kube/kube-version.js';
import type { Surface } from '../../kube/surface.js';
import type { AuthorizeDocument } from '../discovery/permission.js';
import { asksThisServer } from './asks-this-server.js';

/** The server whose document answers a request for /version. */
export type VersionView = 'local' | 'oldest' | 'newest';
type RemoteView = Exclude<VersionView, 'local'>;

/** The other servers of the control plane; a PeerTable is one. */
export interface OtherServers {
  readonly peers: readonly {
    readonly surface: Surface | undefined;
    readonly endpoints: readonly { usable(): boolean }[];
  }[];
}

export interface VersionFilterOptions {
  readonly view: VersionView;
  /** Returns false while peering is off: every request passes unchanged. */
  active(): boolean;
  /** Surface of the local server; undefined while it is down. */
  readonly local: () => Surface | undefined;
  readonly peers: () => OtherServers;
  readonly authorize: AuthorizeDocument;
}

/**
 * Replies to /version with the document of the oldest or newest server that is ready; the API server authorizes it. Has the local server
 * reply, and no peer in its place, to who asks this server about itself.
 */
export function versionFilter(options: VersionFilterOptions): Filter {
  const { view, active, local, peers, authorize } = options;
  const answer = async (exchange: Exchange, next: Handler, which: RemoteView): Promise<Reply> => {
    const here = local();
    const chosen = chooseVersion(which, here, peers());
    if (!chosen || chosen === here) return next(exchange);
    const refusal = await authorize(exchange, next, '/version');
    if (refusal) return refusal;
    const document = new ReadyDocument('application/json', Buffer.from(chosen.versionDocument!), KUBE_APISERVER_GZIP);
    return documentReply(document, exchange, undefined, false);
  };
  return {
    name: 'version',
    // Not an async function: every request passes here.
    wrap: (next) => (exchange) => {
      if (!isAboutServer(exchange)) return next(exchange);
      if (asksThisServer(exchange)) exchange.localOnly = true;
      if (view === 'local' || exchange.localOnly || !isVersion(exchange) || !active()) return next(exchange);
      return answer(exchange, next, view);
    },
  };
}

/**
 * Returns the surface of the oldest or newest server that is ready and whose document is known; the local one if several
 * have the same document. Every server of the control plane makes the same choice.
 */
export function chooseVersion(
  view: RemoteView,
  local: Surface | undefined,
  { peers }: OtherServers,
): Surface | undefined {
  const ready = peers.filter(({ endpoints }) => endpoints.some((each) => each.usable()));
  const surfaces = [local, ...ready.map(({ surface }) => surface)].filter(
    (surface): surface is Surface =>
      surface?.versionDocument !== undefined && isServerVersion(surface.kubernetesVersion),
  );
  // The sort is stable, so the local surface is the first of equals.
  const newestFirst = surfaces.sort(compareSurfaces);
  if (view === 'newest' || newestFirst.length === 0) return newestFirst[0];
  const oldest = newestFirst.at(-1)!;
  return newestFirst.find((surface) => compareSurfaces(surface, oldest) === 0);
}

/** Versions with a different suffix (`+k3s1`) rank the same; their texts make the choice the same everywhere. */
function compareSurfaces(a: Surface, b: Surface): number {
  return (
    compareServerVersions(a.kubernetesVersion, b.kubernetesVersion) ||
    compareTexts(b.kubernetesVersion, a.kubernetesVersion) ||
    compareTexts(b.versionDocument ?? '', a.versionDocument ?? '')
  );
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Pages of an API server about itself; the replies of its peers are about others. */
const ABOUT_SERVER: ReadonlySet<string> = new Set(['/version', '/version/', '/statusz', '/flagz']);

function isAboutServer({ method, upgrade, info }: Exchange): boolean {
  return !info.isResource && ABOUT_SERVER.has(info.path) && (method === 'GET' || method === 'HEAD') && !upgrade;
}

function isVersion({ info }: Exchange): boolean {
  return info.path === '/version' || info.path === '/version/';
}

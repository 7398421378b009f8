import type { RequestInfo } from '../../kube/request-info.js';
import { type Surface, serves } from '../../kube/surface.js';
import type { Peer, PeerTable } from '../peers/peer-table.js';

/** The server behind this process, as routing sees it. */
export interface LocalServer {
  /** Undefined until its discovery could be read once. */
  readonly surface: Surface | undefined;
  /** Takes requests now. */
  readonly ready: boolean;
}

/** The destination of a request; `why` is used in logs, metrics and error messages. */
export type Route =
  | { readonly kind: 'local'; readonly why: string }
  | { readonly kind: 'reroute'; readonly peers: readonly Peer[]; readonly why: string }
  | { readonly kind: 'unavailable'; readonly why: string };

const LOCAL_SERVES: Route = { kind: 'local', why: 'served here' };
const LOCAL_NOT_A_RESOURCE: Route = { kind: 'local', why: 'not a resource' };
const LOCAL_NOBODY_HAS_IT: Route = { kind: 'local', why: 'no server is known to serve it' };

/**
 * Decides where a request is served. Pure; two map look-ups for any number of peers and resources.
 * The rules are numbered in docs/guide/routing.md; first match wins.
 */
export function route(info: RequestInfo, local: LocalServer, table: PeerTable): Route {
  if (!info.isResource) return local.ready ? LOCAL_NOT_A_RESOURCE : anyPeer(table);

  const servedHere = local.surface !== undefined && serves(local.surface, info);
  if (servedHere && local.ready) return LOCAL_SERVES;

  const capable = table.capable(info);
  if (capable.length > 0) {
    return { kind: 'reroute', peers: capable, why: servedHere ? 'the local server is down' : 'only peers serve it' };
  }
  if (servedHere) return { kind: 'unavailable', why: 'the server that serves it is down' };

  // No live server has it, but a 404 could be wrong.
  if (table.unread.length > 0) {
    const names = table.unread.map((peer) => peer.identity).join(', ');
    return { kind: 'unavailable', why: `what ${names} serves is not known yet` };
  }
  const departed = table.departedWith(info);
  if (departed) return { kind: 'unavailable', why: `${departed.identity}, which served it, has gone away` };
  if (!local.ready) return { kind: 'unavailable', why: 'the local server is down' };
  return LOCAL_NOBODY_HAS_IT;
}

function anyPeer(table: PeerTable): Route {
  if (table.peers.length === 0) return { kind: 'unavailable', why: 'the local server is down and there are no peers' };
  return { kind: 'reroute', peers: table.peers, why: 'the local server is down' };
}

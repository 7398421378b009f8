import { ageText } from '../../../base/age-text.js';
import { someNames } from '../../../base/some-names.js';
import { protectorOf } from '../checks/check-line.js';
import type { EndpointReading } from '../endpoint-reading.js';
import type { InspectedServer, Inspection } from '../inspection.js';
import { protectionOf } from '../protection.js';
import { type PeerStatus, peersOf } from '../status-report.js';
import { askForRight, closed, type GateReason, METRICS_RIGHT, unknown } from './gate-reason.js';

/** What one server says of another. */
export interface PeerPair {
  readonly server: string;
  readonly peer: string;
}

/** Reasons in what the servers report of themselves and of each other, and the pairs of servers that these are about. */
export interface ServerReasons {
  readonly reasons: readonly GateReason[];
  readonly covered: readonly PeerPair[];
}

/** A rollout takes its time: a front-proxy certificate that expires in the middle of it makes all peers refuse this server. */
const FRONT_PROXY_LEFT_MS_MIN = 6 * 3_600_000;

export function serverReasons({ servers, nowMs }: Inspection): ServerReasons {
  const newcomers = newcomersOf(servers);
  const hidden = servers.filter(hidesMetrics);
  return {
    reasons: [
      ...servers.flatMap(readinessReasons),
      ...newcomers.map(newcomerReason),
      ...servers.flatMap((each) => frontProxyReasons(each, nowMs)),
    ],
    covered: [
      ...newcomers.flatMap(({ peer, seenBy }) => seenBy.map((server) => ({ server, peer }))),
      ...hidden.flatMap(({ server }) => servers.map((other) => ({ server: server.name, peer: other.server.name }))),
    ],
  };
}

function readinessReasons(each: InspectedServer): GateReason[] {
  const { name } = each.server;
  const protector = protectorOf(each);
  if (!protector || protector.unreachable !== undefined) return [];
  if (!protector.ready) {
    const detail = `${name}: whether it is ready is not shown to this user`;
    return [unknown('not-ready', { detail, servers: [name], next: askForRight('get the non-resource URL /readyz') })];
  }
  // One that is not ready has a failed line of `straddle check`.
  if (!protector.ready.isReady || protectionOf(protector).kind === 'kube-apiserver') return [];
  if (!protector.metrics) {
    const why = protector.metricsRefusal ?? 'it has no metrics';
    const detail = `${name}: whether its Straddle reaches its API server and its peers is not known: ${why}`;
    return [unknown('not-ready', { detail, servers: [name], next: askForRight(METRICS_RIGHT) })];
  }
  // A Straddle is ready as long as a peer can take the requests.
  if (protector.metrics.sum('straddle_host_ready') !== 0) return [];
  const detail = `${name}: its Straddle is ready, but the API server behind it takes no requests (straddle_host_ready 0)`;
  return [
    closed('not-ready', { detail, servers: [name], next: `Wait for the kube-apiserver of ${name}, or see its log.` }),
  ];
}

/** Without metrics of a Straddle, one reason is enough: what it sees of each other server is not known either. */
function hidesMetrics(each: InspectedServer): boolean {
  const protector = protectorOf(each);
  return protector !== undefined && !protector.metrics && protectionOf(protector).kind !== 'kube-apiserver';
}

interface Newcomer {
  readonly peer: string;
  readonly seenBy: readonly string[];
}

/** Returns servers that some Straddle has found and never read: they may serve anything, so 404s are held back for a while. */
function newcomersOf(servers: readonly InspectedServer[]): Newcomer[] {
  const seen = new Map<string, string[]>();
  for (const each of servers) {
    const protector = protectorOf(each);
    if (!protector?.metrics || protectionOf(protector).active !== true) continue;
    for (const peer of peersOf(protector.metrics) ?? []) {
      if (peer.surfaceAgeSeconds !== null) continue;
      const listed = servers.find((other) => isSame(other, peer));
      // A server that does not answer from here either has a reason already.
      if (listed && !listed.readings.some(isReached)) continue;
      const name = listed?.server.name ?? peer.name;
      seen.set(name, [...(seen.get(name) ?? []), each.server.name]);
    }
  }
  return [...seen].map(([peer, seenBy]) => ({ peer, seenBy }));
}

function isReached({ unreachable }: EndpointReading): boolean {
  return unreachable === undefined;
}

function isSame({ server }: InspectedServer, { name, addresses }: PeerStatus): boolean {
  const known = new Set(server.endpoints.map(({ address }) => address));
  return name.toLowerCase() === server.name || addresses.some(({ address }) => known.has(address));
}

function newcomerReason({ peer, seenBy }: Newcomer): GateReason {
  return closed('rollout', {
    detail: `${peer} is expected and not back: ${someNames(seenBy)} ${seenBy.length === 1 ? 'has' : 'have'} not read yet what it serves`,
    servers: [peer],
    next: `Wait until ${peer} is up and read; if it does not come, \`straddle check\` says why, and the leases in kube-system that name it can be deleted.`,
  });
}

/** One that has expired has a failed line of `straddle check`. */
function frontProxyReasons(each: InspectedServer, nowMs: number): GateReason[] {
  const { name } = each.server;
  const [sample] = protectorOf(each)?.metrics?.all('straddle_front_proxy_certificate_expiry_seconds') ?? [];
  const leftMs = (sample?.value ?? Number.NaN) * 1_000 - nowMs;
  if (!(leftMs > 0 && leftMs < FRONT_PROXY_LEFT_MS_MIN)) return [];
  return [
    closed('certificates', {
      detail: `${name}: its front-proxy certificate expires in ${ageText(leftMs)}`,
      servers: [name],
      next: 'Renew it (kubeadm: `kubeadm certs renew front-proxy-client`).',
    }),
  ];
}

import type { LeaseFact } from './cluster-facts.js';
import type { EndpointReading } from './endpoint-reading.js';
import type { InspectedServer, Inspection } from './inspection.js';
import type { MetricsPage } from './metrics-text.js';
import { kindText, type Protection, protectionOf, switchedOffSince } from './protection.js';
import { type LeaseConflict, leaseConflicts } from './servers.js';

/** `straddle status -o json`. */
export interface StatusReport {
  /** The URL in the kubeconfig. */
  readonly door: string;
  readonly servers: readonly ServerStatus[];
  readonly notes: readonly string[];
}

/** One address of a server; a server behind a Straddle has one for each. */
export interface ServerStatus {
  readonly name: string;
  readonly address: string | null;
  readonly kind: string;
  readonly version: string | null;
  /** The minor version whose API it emulates, `1.36`; null if it is its own, or not shown to this user. */
  readonly emulatedVersion: string | null;
  /** Of the API server, according to /statusz; null if it does not report it to this user. */
  readonly uptimeSeconds: number | null;
  /** `ready`, `not ready: …`, `unreachable: …`, `unknown: …`. */
  readonly health: string;
  readonly lease: LeaseStatus | null;
  /** The peers in the metrics of this server; null if it does not report them. */
  readonly peers: readonly PeerStatus[] | null;
  /** Requests that a peer answered; null if the server does not report it. */
  readonly reroutes: number | null;
  /** Requests that a peer answered, and not with 404, while the server alone would have said 404. */
  readonly wrong404sPrevented: number | null;
  /** Requests answered 503 because a 404 could have been wrong. */
  readonly heldBack: number | null;
  /** Time since its local surface was last confirmed. */
  readonly surfaceAgeSeconds: number | null;
  readonly departedServers: number | null;
  /** Addresses that leases claim for several host names, as this server counts them. */
  readonly addressConflicts: number | null;
  readonly certificateExpires: string | null;
  /** Whether passthrough is on; null for a server without such a switch, and if it does not show its health. */
  readonly passthrough: boolean | null;
  /** Time at which passthrough was switched on; null while it is off, or if this user may not read the metrics. */
  readonly passthroughSince: string | null;
}

export interface LeaseStatus {
  readonly name: string;
  readonly ageSeconds: number | null;
  readonly durationSeconds: number;
  readonly expired: boolean;
}

export interface PeerStatus {
  readonly name: string;
  readonly usable: boolean;
  readonly addresses: readonly { readonly address: string; readonly usable: boolean }[];
  readonly surfaceAgeSeconds: number | null;
}

export function statusReport(inspection: Inspection): StatusReport {
  const { facts, servers } = inspection;
  return {
    door: facts.door,
    servers: servers.flatMap((each) => rowsOf(each, facts.serverTimeMs)),
    notes: [...facts.notes, ...leaseConflicts(facts).map(conflictNote)],
  };
}

/** Detail for a server whose address nothing names. */
export const NO_ADDRESS = 'its lease has no address, and no EndpointSlice or pod tells it; give it with --server';

/** Lease and host names shown in one note. */
const NAMES_SHOWN_MAX = 5;

export function conflictNote({ address, hosts, leases }: LeaseConflict): string {
  const shown = (names: readonly string[]): string => {
    const more = names.length - NAMES_SHOWN_MAX;
    return names.slice(0, NAMES_SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
  };
  return `${address} is claimed for the host names ${shown(hosts)}, by the leases ${shown(leases)}`;
}

function rowsOf({ server, readings }: InspectedServer, serverTimeMs: number): ServerStatus[] {
  if (readings.length > 0) return readings.map((reading) => rowOf(server.name, reading, serverTimeMs));
  const [lease] = server.leases;
  return [
    {
      ...SILENT,
      name: server.name,
      address: null,
      kind: lease?.kind === 'straddle' ? 'straddle' : 'kube-apiserver',
      health: `unknown: ${NO_ADDRESS}`,
      lease: leaseStatus(lease, serverTimeMs),
    },
  ];
}

const SILENT = {
  version: null,
  emulatedVersion: null,
  uptimeSeconds: null,
  peers: null,
  reroutes: null,
  wrong404sPrevented: null,
  heldBack: null,
  surfaceAgeSeconds: null,
  departedServers: null,
  addressConflicts: null,
  certificateExpires: null,
  passthrough: null,
  passthroughSince: null,
} as const;

function rowOf(name: string, reading: EndpointReading, serverTimeMs: number): ServerStatus {
  const { endpoint, metrics, certificate } = reading;
  const protection = protectionOf(reading);
  return {
    ...SILENT,
    name,
    address: endpoint.address,
    kind: reading.unreachable === undefined ? kindText(protection) : endpoint.kind,
    version: reading.version ?? null,
    emulatedVersion: emulatedVersion(reading),
    uptimeSeconds: reading.zpages.statusz.page?.uptimeSeconds ?? null,
    health: healthOf(reading),
    lease: leaseStatus(endpoint.lease, serverTimeMs),
    passthrough: isShown(reading, protection) ? protection.passthrough !== undefined : null,
    passthroughSince: switchedOffSince(protection),
    certificateExpires: certificate ? new Date(certificate.notAfterMs).toISOString() : null,
    ...(metrics ? numbersOf(metrics, name) : {}),
  };
}

/** Returns whether a Straddle shows its passthrough to this user. */
function isShown({ ready, metrics }: EndpointReading, { kind }: Protection): boolean {
  return (
    kind !== 'kube-apiserver' && ((ready?.checks.size ?? 0) > 0 || (metrics?.has('straddle_passthrough') ?? false))
  );
}

/** /statusz has an emulated version always, most often that of the program. */
function emulatedVersion({ version, zpages }: EndpointReading): string | null {
  const emulated = zpages.statusz.page?.emulationVersion;
  const own = /^v(\d+\.\d+)(?:\D|$)/.exec(version ?? '')?.[1];
  return emulated === undefined || emulated === own ? null : emulated;
}

function healthOf({ unreachable, ready }: EndpointReading): string {
  if (unreachable !== undefined) return `unreachable: ${unreachable}`;
  if (!ready) return 'unknown: it does not show its health to this user';
  return ready.isReady ? 'ready' : `not ready: ${ready.failed.join(', ') || 'no reason given'}`;
}

function leaseStatus(lease: LeaseFact | undefined, serverTimeMs: number): LeaseStatus | null {
  if (!lease) return null;
  const ageSeconds =
    lease.renewedAtMs === undefined ? null : Math.max(0, Math.round((serverTimeMs - lease.renewedAtMs) / 100) / 10);
  return {
    name: lease.name,
    ageSeconds,
    durationSeconds: lease.durationSeconds,
    expired: ageSeconds === null || ageSeconds > lease.durationSeconds,
  };
}

function numbersOf(metrics: MetricsPage, name: string) {
  return {
    peers: peersOf(metrics),
    reroutes: metrics.sum('apiserver_rerouted_request_total') ?? null,
    wrong404sPrevented: preventedBy(metrics, 'rerouted'),
    heldBack: preventedBy(metrics, 'held-back'),
    surfaceAgeSeconds: [...surfaceAges(metrics)].find(([server]) => server.toLowerCase() === name)?.[1] ?? null,
    departedServers: metrics.sum('straddle_departed_servers') ?? null,
    addressConflicts: metrics.sum('straddle_peer_address_conflicts') ?? null,
  };
}

function preventedBy(metrics: MetricsPage, how: string): number | null {
  const name = 'straddle_wrong_404_prevented_total';
  if (!metrics.has(name)) return null;
  const samples = metrics.all(name).filter(({ labels }) => labels.get('how') === how);
  return samples.reduce((total, { value }) => total + value, 0);
}

/** Seconds since the surface of each server was last confirmed, by server name. */
function surfaceAges(metrics: MetricsPage): ReadonlyMap<string, number> {
  const samples = metrics.all('straddle_surface_age_seconds');
  return new Map(samples.map(({ labels, value }) => [labels.get('server') ?? '', value]));
}

/** Returns null for a kube-apiserver, which does not report its peers. */
export function peersOf(metrics: MetricsPage): PeerStatus[] | null {
  if (!metrics.has('straddle_peer_usable')) return null;
  const ages = surfaceAges(metrics);
  const byName = new Map<string, { address: string; usable: boolean }[]>();
  for (const { labels, value } of metrics.all('straddle_peer_usable')) {
    const name = labels.get('peer') ?? '';
    byName.set(name, [...(byName.get(name) ?? []), { address: labels.get('address') ?? '', usable: value === 1 }]);
  }
  return [...byName].map(([name, addresses]) => ({
    name,
    usable: addresses.some(({ usable }) => usable),
    addresses,
    surfaceAgeSeconds: ages.get(name) ?? null,
  }));
}

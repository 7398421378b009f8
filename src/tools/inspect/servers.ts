import { type Sighting, uniteSightings } from '../../proxy/peers/sightings.js';
import type { ClusterFacts, LeaseFact, PodFact } from './cluster-facts.js';

/** One address of a server; a server with a Straddle before it has two. */
export interface ServerEndpoint {
  /** According to the source of the address; a reply may show another kind. */
  readonly kind: 'kube-apiserver' | 'straddle';
  readonly address: string;
  /** A Straddle says that nobody listens there: its API server is reached through it only. */
  readonly isReserve: boolean;
  readonly lease: LeaseFact | undefined;
  readonly pod: PodFact | undefined;
}

export interface ListedServer {
  /** The name that every Straddle uses: host name, else address. */
  readonly name: string;
  /** In the order in which peers prefer them. Empty if no source has an address. */
  readonly endpoints: readonly ServerEndpoint[];
  readonly leases: readonly LeaseFact[];
}

/** An address that leases claim for several host names. */
export interface LeaseConflict {
  readonly address: string;
  readonly hosts: readonly string[];
  readonly leases: readonly string[];
}

/** Returns the addresses that leases claim for several host names. */
export function leaseConflicts(facts: ClusterFacts): LeaseConflict[] {
  return uniteSightings(sightingsOf(facts, []), { names: [], addresses: [] }).conflicts.map(({ address, refused }) => ({
    address,
    hosts: refused,
    leases: facts.leases
      .filter((lease) => lease.address === address || lease.upstreamAddress === address)
      .map(({ name }) => name),
  }));
}

/** Joins all sightings to servers, by the rules by which Straddle finds its peers. */
export function knownServers(facts: ClusterFacts, given: readonly string[] = []): ListedServer[] {
  const { servers: united } = uniteSightings(sightingsOf(facts, given), { names: [], addresses: [] });
  const taken = new Set<LeaseFact>();
  const servers = united.map(({ identity, endpoints }): ListedServer => {
    const addresses = new Set(endpoints.map(({ address }) => address));
    const belongs = ({ hostname, address, upstreamAddress }: Partial<LeaseFact>): boolean =>
      hostname === identity || [address, upstreamAddress].some((each) => each !== undefined && addresses.has(each));
    const leases = facts.leases.filter(belongs);
    for (const lease of leases) taken.add(lease);
    const pods = facts.pods.filter(belongs);
    return {
      name: identity,
      leases,
      endpoints: endpoints.map(({ kind, address, isReserve = false }) => ({
        kind,
        address,
        isReserve,
        lease: leases.find((lease) => lease.kind === kind && (lease.address ?? address) === address),
        pod: pods.find((pod) => (pod.address ?? address) === address),
      })),
    };
  });
  const homeless = facts.leases.filter((lease) => !taken.has(lease) && lease.hostname !== undefined);
  return nameTheNameless(servers, homeless).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Joins the only lease without an address to the only address without a name. */
function nameTheNameless(servers: readonly ListedServer[], homeless: readonly LeaseFact[]): ListedServer[] {
  const hosts = [...new Set(homeless.map(({ hostname }) => hostname!))];
  const nameless = servers.filter(({ leases, endpoints }) => leases.length === 0 && !endpoints.some(({ pod }) => pod));
  const [host] = hosts;
  const [server] = nameless;
  if (hosts.length === 1 && nameless.length === 1 && host !== undefined && server) {
    const endpoints = server.endpoints.map((each) => ({
      ...each,
      lease: homeless.find((lease) => lease.kind === each.kind),
    }));
    return [...servers.filter((each) => each !== server), { name: host, leases: homeless, endpoints }];
  }
  return [
    ...servers,
    ...hosts.map((name) => ({
      name,
      endpoints: [],
      leases: homeless.filter(({ hostname }) => hostname === name),
    })),
  ];
}

function sightingsOf(
  { leases, endpointAddresses, pods, door, serverTimeMs }: ClusterFacts,
  given: readonly string[],
): Sighting[] {
  const seen: Sighting[] = [
    ...leases.map(
      ({ kind, hostname, address, upstreamAddress, isBehindStraddle, renewedAtMs }): Sighting => ({
        source: 'lease',
        kind,
        ...(hostname === undefined ? {} : { hostname }),
        ...(address === undefined ? {} : { address }),
        ...(upstreamAddress === undefined ? {} : { upstreamAddress }),
        ...(upstreamAddress !== undefined && isBehindStraddle ? { isBehindStraddle } : {}),
        ...(renewedAtMs === undefined ? {} : { renewedAtMs: Math.min(renewedAtMs, serverTimeMs) }),
      }),
    ),
    ...endpointAddresses.map((address): Sighting => ({ source: 'endpoints', kind: 'kube-apiserver', address })),
    ...pods.map(
      ({ hostname, address, isStraddle }): Sighting => ({
        source: 'static',
        kind: isStraddle ? 'straddle' : 'kube-apiserver',
        ...(hostname === undefined ? {} : { hostname }),
        ...(address === undefined ? {} : { address }),
      }),
    ),
    ...given.map((address): Sighting => ({ source: 'static', kind: 'kube-apiserver', address })),
  ];
  if (seen.some(({ address, upstreamAddress }) => address ?? upstreamAddress)) return seen;
  // No source has an address, but the URL has given a reply.
  const { hostname, port } = new URL(door);
  return [...seen, { source: 'static', kind: 'kube-apiserver', address: `${hostname}:${port || 443}` }];
}

import { type AddressConflict, type KnownServer, settleClaims } from './address-claims.js';
import type { EndpointName } from './endpoint-pool.js';
import type { Selves, Sighting } from './sighting.js';

export type { Selves, Sighting } from './sighting.js';

/** A server other than this one, joined from all its sightings. */
export interface SightedServer {
  readonly identity: string;
  /** Every host name of the server in sightings, lower case, sorted. */
  readonly hosts: readonly string[];
  /** True if one of `hosts` is from a Straddle lease. */
  readonly namedByStraddle: boolean;
  /** True if a source other than leases names the server; many users of a cluster may write leases. */
  readonly vouched: boolean;
  /** Preferred first; never empty. */
  readonly endpoints: readonly EndpointName[];
  /** Differs after a process of this server was restarted. */
  readonly incarnation: string;
}

/** Mark of an operator (`straddle forget`) that a departed server will not come back. */
export interface ForgetMark {
  readonly identity: string;
  readonly atMs: number;
}

/** Bound on servers. Those that have answered are kept first, those in leases only last. */
export const SERVERS_MAX = 256;
/** Bound on the addresses of one server, in the same order. */
export const ENDPOINTS_PER_SERVER_MAX = 8;
/** Result of `uniteSightings`. */
export interface SightedServers {
  /** Sorted by identity. */
  readonly servers: readonly SightedServer[];
  readonly conflicts: readonly AddressConflict[];
  /** Number of servers that were ignored because of the bound. */
  readonly leftOutCount: number;
}

/**
 * Joins sightings that share a host name or an address into servers. Pure function of the set of
 * sightings, independent of their order, so that every server of a control plane computes the same
 * identities. `known` are servers that have answered: they keep their addresses, and are kept first
 * at the bounds.
 */
export function uniteSightings(
  sightings: readonly Sighting[],
  selves: Selves,
  known: readonly KnownServer[] = [],
): SightedServers {
  const { sightings: settled, conflicts } = settleClaims(sightings, known, selves);
  const sets = new DisjointSets();
  for (const name of selves.names) sets.join(SELF, hostToken(name));
  for (const address of selves.addresses) sets.join(SELF, addressToken(address));
  for (const sighting of settled) {
    const tokens = tokensOf(sighting);
    for (const token of tokens) sets.join(tokens[0]!, token);
  }
  const groups = new Map<string, Sighting[]>();
  for (const sighting of settled) {
    const first = tokensOf(sighting)[0];
    if (first === undefined) continue;
    const root = sets.find(first);
    if (root === sets.find(SELF)) continue;
    const group = groups.get(root);
    if (group) group.push(sighting);
    else groups.set(root, [sighting]);
  }
  const answered = new Set(known.flatMap(({ addresses }) => addresses.map(({ address }) => address)));
  const servers = [...groups.values()].flatMap((group) => serverOf(group, answered) ?? []);
  const rank = (server: SightedServer): number => {
    if (server.endpoints.some(({ address }) => answered.has(address))) return 0;
    return server.vouched ? 1 : 2;
  };
  const kept = servers.sort((a, b) => rank(a) - rank(b) || compare(a.identity, b.identity)).slice(0, SERVERS_MAX);
  return {
    servers: kept.sort((a, b) => compare(a.identity, b.identity)),
    conflicts,
    leftOutCount: servers.length - kept.length,
  };
}

function serverOf(group: readonly Sighting[], answered: ReadonlySet<string>): SightedServer | undefined {
  const straddles = new Set(group.flatMap((s) => (s.kind === 'straddle' && s.address ? [s.address] : [])));
  const apiServers = new Set(
    group.flatMap((s) => [s.kind === 'kube-apiserver' ? s.address : undefined, s.upstreamAddress]).filter(isText),
  );
  for (const address of straddles) apiServers.delete(address);
  const vouched = new Set(group.flatMap((s) => (s.source === 'lease' ? [] : [s.address])));
  // Kept, although nobody should answer there: every user who may write leases can say so of a server.
  const reserve = new Set(
    straddles.size === 0 ? [] : group.flatMap((s) => (s.isBehindStraddle && s.upstreamAddress) || []),
  );
  const direct = sorted(apiServers).map((address) => ({ kind: 'kube-apiserver' as const, address }));
  const all: EndpointName[] = [
    ...direct.filter(({ address }) => !reserve.has(address)),
    ...sorted(straddles).map((address) => ({ kind: 'straddle' as const, address })),
    ...direct.filter(({ address }) => reserve.has(address)).map((each) => ({ ...each, isReserve: true as const })),
  ];
  const rank = ({ address }: EndpointName): number => (answered.has(address) ? 0 : vouched.has(address) ? 1 : 2);
  const kept = new Set([...all].sort((a, b) => rank(a) - rank(b)).slice(0, ENDPOINTS_PER_SERVER_MAX));
  const endpoints = all.filter((endpoint) => kept.has(endpoint));
  if (endpoints.length === 0) return undefined;
  // The name of a Straddle is chosen by an operator; that of a kube-apiserver may be the name of
  // its container.
  const named = (wanted: (s: Sighting) => boolean) => sorted(new Set(group.filter(wanted).map(hostOf).filter(isText)));
  const hosts = named(() => true);
  const [straddleName] = named((s) => s.kind === 'straddle');
  const incarnations = new Set(group.map((s) => s.incarnation).filter(isText));
  return {
    identity: straddleName ?? hosts[0] ?? endpoints[0]!.address,
    hosts,
    namedByStraddle: straddleName !== undefined,
    vouched: endpoints.some(({ address }) => vouched.has(address)),
    endpoints,
    incarnation: sorted(incarnations).join(' '),
  };
}

const SELF = 'self';

function hostOf(sighting: Sighting): string | undefined {
  return sighting.hostname?.toLowerCase();
}

function hostToken(name: string): string {
  return `host ${name.toLowerCase()}`;
}

function addressToken(address: string): string {
  return `address ${address}`;
}

function tokensOf(sighting: Sighting): string[] {
  const tokens: string[] = [];
  if (sighting.hostname) tokens.push(hostToken(sighting.hostname));
  if (sighting.address) tokens.push(addressToken(sighting.address));
  if (sighting.upstreamAddress) tokens.push(addressToken(sighting.upstreamAddress));
  return tokens;
}

class DisjointSets {
  readonly #parents = new Map<string, string>();

  find(token: string): string {
    let root = token;
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next;
    for (let at = token; at !== root; ) {
      const next = this.#parents.get(at)!;
      this.#parents.set(at, root);
      at = next;
    }
    return root;
  }

  join(a: string, b: string): void {
    const rootA = this.find(a);
    const rootB = this.find(b);
    if (rootA !== rootB) this.#parents.set(rootB, rootA);
  }
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function sorted(values: Iterable<string>): string[] {
  return [...values].sort(compare);
}

/** Compares by code unit, not by locale: every server must sort alike. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

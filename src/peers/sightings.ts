import type { PeerEndpoint } from './peer-table.js';

/** One trace of a server, as one source saw it. */
export interface Sighting {
  readonly source: 'lease' | 'endpoints' | 'static';
  /** What answers at `address`. */
  readonly kind: PeerEndpoint['kind'];
  readonly hostname?: string;
  readonly address?: string;
  /** With kind `straddle`: where the API server behind it is reached from other machines. */
  readonly upstreamAddress?: string;
  /** When whoever wrote it last said that it is alive, by the writer's clock. Leases only. */
  readonly renewedAtMs?: number;
  /** Changes when the process behind it does. */
  readonly incarnation?: string;
}

/** What this process and its host are known by; never peers. */
export interface Selves {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

/** A server other than this one, put together from everything seen of it. */
export interface SightedServer {
  readonly identity: string;
  /** Preferred first; never empty. */
  readonly endpoints: readonly SightedEndpoint[];
  /** Differs when a process of this server was started anew. */
  readonly incarnation: string;
}

export interface SightedEndpoint {
  readonly kind: PeerEndpoint['kind'];
  readonly address: string;
}

/** An operator said that a departed server will not come back. */
export interface ForgetMark {
  readonly identity: string;
  readonly atMs: number;
}

/** Bound on the servers of one control plane; the rest, in order of identity, is left out. */
export const SERVERS_MAX = 256;
/** Bound on the addresses of one server. */
export const ENDPOINTS_PER_SERVER_MAX = 8;
/**
 * Two leases that give one address to two host names: an address that moved if the older one has not been renewed for
 * this long (leases are renewed every 10 s), else one that stands for no single server, such as a load balancer's.
 */
export const ADDRESS_CLAIM_STALE_MS = 60_000;

/**
 * Sightings that share a host name or an address are one server. A pure function of the set: the order in which
 * sources report does not matter, so that every server of a control plane comes to the same identities.
 */
export function uniteSightings(sightings: readonly Sighting[], selves: Selves): SightedServer[] {
  const settled = settleClaims(sightings);
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
  const servers = [...groups.values()].flatMap((group) => serverOf(group) ?? []);
  return servers.sort((a, b) => compare(a.identity, b.identity)).slice(0, SERVERS_MAX);
}

function serverOf(group: readonly Sighting[]): SightedServer | undefined {
  const straddles = new Set(group.flatMap((s) => (s.kind === 'straddle' && s.address ? [s.address] : [])));
  const apiServers = new Set(
    group.flatMap((s) => [s.kind === 'kube-apiserver' ? s.address : undefined, s.upstreamAddress]).filter(isText),
  );
  for (const address of straddles) apiServers.delete(address);
  const endpoints = [
    ...sorted(apiServers).map((address) => ({ kind: 'kube-apiserver' as const, address })),
    ...sorted(straddles).map((address) => ({ kind: 'straddle' as const, address })),
  ].slice(0, ENDPOINTS_PER_SERVER_MAX);
  if (endpoints.length === 0) return undefined;
  // A Straddle's name was given to it on purpose; a kube-apiserver's is whatever its container is called.
  const named = (wanted: (s: Sighting) => boolean) =>
    sorted(new Set(group.filter(wanted).map(hostOf).filter(isText)))[0];
  const identity = named((s) => s.kind === 'straddle') ?? named(() => true) ?? endpoints[0]!.address;
  const incarnations = new Set(group.map((s) => s.incarnation).filter(isText));
  return { identity, endpoints, incarnation: sorted(incarnations).join(' ') };
}

/** Takes addresses away from sightings that have no, or no longer a, good claim to them. */
function settleClaims(sightings: readonly Sighting[]): Sighting[] {
  const owners = new Map<string, string | undefined>();
  for (const [key, claims] of claimsByAddress(sightings)) {
    const newestMs = Math.max(...claims.map((claim) => claim.renewedAtMs));
    const standing = claims.filter((claim) => claim.renewedAtMs >= newestMs - ADDRESS_CLAIM_STALE_MS);
    const hosts = new Set(standing.map((claim) => claim.host));
    owners.set(key, hosts.size === 1 ? standing[0]!.host : undefined);
  }
  // An address that two servers of one kind claim at once belongs to none, whatever else mentions it.
  const shared = new Set(
    [...owners].filter(([, owner]) => owner === undefined).map(([key]) => key.slice(key.indexOf(' ') + 1)),
  );
  return sightings.map((sighting) => {
    const { address, upstreamAddress, ...rest } = sighting;
    const host = hostOf(sighting);
    const holds = (role: Role, claimed: string | undefined): claimed is string => {
      if (claimed === undefined || shared.has(claimed)) return false;
      return sighting.source !== 'lease' || host === undefined || owners.get(`${role} ${claimed}`) === host;
    };
    return {
      ...rest,
      ...(holds(sighting.kind, address) ? { address } : {}),
      ...(holds('upstream', upstreamAddress) ? { upstreamAddress } : {}),
    };
  });
}

type Role = PeerEndpoint['kind'] | 'upstream';

function claimsByAddress(sightings: readonly Sighting[]) {
  const claims = new Map<string, { host: string; renewedAtMs: number }[]>();
  const claim = (role: Role, address: string | undefined, sighting: Sighting) => {
    const host = hostOf(sighting);
    if (address === undefined || host === undefined || sighting.source !== 'lease') return;
    const key = `${role} ${address}`;
    const list = claims.get(key) ?? [];
    list.push({ host, renewedAtMs: sighting.renewedAtMs ?? 0 });
    claims.set(key, list);
  };
  for (const sighting of sightings) {
    claim(sighting.kind, sighting.address, sighting);
    claim('upstream', sighting.upstreamAddress, sighting);
  }
  return claims;
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

/** By code unit, not by locale: every server must sort alike. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

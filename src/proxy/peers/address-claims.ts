import type { PeerEndpoint } from './peer-table.js';
import type { Selves, Sighting } from './sighting.js';

/** A server that has answered, verified by TLS, at some of its addresses. */
export interface KnownServer {
  readonly identity: string;
  /** Lower case; empty if no source names it. */
  readonly hosts: readonly string[];
  /** One of its host names is a Straddle's, which names the server on purpose. */
  readonly namedByStraddle: boolean;
  /** Addresses at which it has answered. */
  readonly addresses: readonly { readonly address: string /** Usable now. */; readonly answering: boolean }[];
}

/** Leases that claim one address for several host names. */
export interface AddressConflict {
  readonly address: string;
  /** The server that keeps the address; undefined if nobody gets it. */
  readonly holder: string | undefined;
  /** Host names that do not get it, sorted. */
  readonly refused: readonly string[];
}

export interface SettledClaims {
  readonly sightings: readonly Sighting[];
  readonly conflicts: readonly AddressConflict[];
}

/**
 * Two leases that give one address to two host names: an address that moved if the older one has not been renewed for
 * this long (leases are renewed every 10 s), else one that stands for no single server, such as a load balancer's.
 */
export const ADDRESS_CLAIM_STALE_MS = 60_000;

type Role = PeerEndpoint['kind'] | 'upstream';

interface Claim {
  readonly role: Role;
  readonly address: string;
  /** Empty for a lease without a host name, which neither contests an address nor joins two. */
  readonly host: string;
  readonly renewedAtMs: number;
}

/**
 * Removes addresses from sightings that have no good claim to them. Anybody who may write leases can claim any address,
 * so a server that has answered at an address keeps it, as long as a source still tells of it there and it either answers
 * or has a recent claim of its own. Otherwise its address passes to the next name at once, with what is known of it.
 */
export function settleClaims(
  sightings: readonly Sighting[],
  known: readonly KnownServer[],
  selves: Selves,
): SettledClaims {
  const claims = sightings.flatMap(claimsOf);
  const holders = new Holders(sightings, claims, known, selves);
  const owners = ownersOf(claims.filter(({ address }) => holders.of(address) === undefined));
  const conflicts = new Map<string, Set<string>>();
  const conflict = ({ address, host }: Claim) =>
    conflicts.set(address, (conflicts.get(address) ?? new Set()).add(host));
  // An address that two servers of one kind claim at once belongs to none, whatever else mentions it.
  for (const { standing, owner } of owners.values()) if (owner === undefined) standing.forEach(conflict);
  const contested = new Set(conflicts.keys());
  for (const claim of claims) if (!holders.admits(claim) && !holders.isSelf(claim.address)) conflict(claim);

  const keeps = (claim: Claim): boolean => {
    if (contested.has(claim.address) || !holders.admits(claim)) return false;
    return holders.of(claim.address) !== undefined || owners.get(keyOf(claim))?.owner === claim.host;
  };
  return {
    sightings: sightings.map((sighting) => {
      const { address, upstreamAddress, ...rest } = sighting;
      if (sighting.source !== 'lease') return address !== undefined && contested.has(address) ? rest : sighting;
      const kept = new Map(claimsOf(sighting).flatMap((claim) => (keeps(claim) ? [[claim.role, claim.address]] : [])));
      const [own, upstream] = [kept.get(sighting.kind), kept.get('upstream')];
      return { ...rest, ...(own ? { address: own } : {}), ...(upstream ? { upstreamAddress: upstream } : {}) };
    }),
    conflicts: [...conflicts]
      .map(([address, hosts]) => ({ address, holder: holders.of(address)?.identity, refused: [...hosts].sort() }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** Which known server holds which address, and whose claims to it are admitted besides its own. */
class Holders {
  readonly #self: KnownServer;
  readonly #byAddress = new Map<string, KnownServer>();
  readonly #byHost = new Map<string, KnownServer>();
  /** Servers whose addresses a host name claims. */
  readonly #claimedBy = new Map<string, Set<KnownServer>>();

  constructor(sightings: readonly Sighting[], claims: readonly Claim[], known: readonly KnownServer[], selves: Selves) {
    const recent = recentClaims(claims);
    const vouched = new Set(sightings.flatMap(({ source, address }) => (source === 'lease' ? [] : [address])));
    const isClaimedIn = (list: readonly Claim[], { hosts }: KnownServer, address: string): boolean =>
      vouched.has(address) || list.some((claim) => claim.address === address && hosts.includes(claim.host));
    this.#self = {
      identity: 'self',
      hosts: selves.names.map((name) => name.toLowerCase()),
      namedByStraddle: true,
      addresses: selves.addresses.map((address) => ({ address, answering: true })),
    };
    const hold = (server: KnownServer, wanted: (address: string, answering: boolean) => boolean): void => {
      for (const { address, answering } of server.addresses) {
        if (!this.#byAddress.has(address) && wanted(address, answering)) this.#byAddress.set(address, server);
      }
    };
    hold(this.#self, () => true);
    for (const server of known) hold(server, (address, answering) => answering && isClaimedIn(claims, server, address));
    for (const server of known) hold(server, (address) => isClaimedIn(recent.get(address) ?? [], server, address));
    for (const server of [this.#self, ...known]) {
      for (const host of server.hosts) if (!this.#byHost.has(host)) this.#byHost.set(host, server);
    }
    for (const { address, host } of claims) {
      const holder = this.#byAddress.get(address);
      if (holder) this.#claimedBy.set(host, (this.#claimedBy.get(host) ?? new Set()).add(holder));
    }
  }

  of(address: string): KnownServer | undefined {
    return this.#byAddress.get(address);
  }

  isSelf(address: string): boolean {
    return this.of(address) === this.#self;
  }

  /**
   * A held address is open to its holder. A host name that is nobody else's, and claims nothing of anybody else, may be
   * the first to name a server, or be the Straddle before it, which may be called differently.
   */
  admits({ role, address, host }: Claim): boolean {
    const holder = this.of(address);
    if (!holder || holder.hosts.includes(host)) return true;
    if (host === '' || holder === this.#self || this.#byHost.has(host)) return false;
    if (this.#claimedBy.get(host)!.size > 1) return false;
    return holder.hosts.length === 0 || (role === 'upstream' && !holder.namedByStraddle);
  }
}

interface Ownership {
  readonly standing: readonly Claim[];
  /** Undefined if several host names claim the address. */
  readonly owner: string | undefined;
}

/** Who owns addresses that no known server holds, by role and address. */
function ownersOf(claims: readonly Claim[]): Map<string, Ownership> {
  return new Map(
    [...recentClaims(claims, keyOf)].map(([key, recent]) => {
      const named = recent.filter(({ host }) => host !== '');
      const standing = named.length > 0 ? named : recent;
      const hosts = new Set(standing.map(({ host }) => host));
      return [key, { standing, owner: hosts.size === 1 ? standing[0]!.host : undefined }];
    }),
  );
}

/** Claims without those that another to the same has outlived, by address or another key. */
function recentClaims(
  claims: readonly Claim[],
  key: (claim: Claim) => string = ({ address }) => address,
): Map<string, Claim[]> {
  const byKey = new Map<string, Claim[]>();
  for (const claim of claims) {
    const list = byKey.get(key(claim));
    if (list) list.push(claim);
    else byKey.set(key(claim), [claim]);
  }
  for (const [each, list] of byKey) {
    const newestMs = list.reduce((newest, claim) => Math.max(newest, claim.renewedAtMs), 0);
    byKey.set(
      each,
      list.filter(({ renewedAtMs }) => renewedAtMs >= newestMs - ADDRESS_CLAIM_STALE_MS),
    );
  }
  return byKey;
}

function keyOf({ role, address }: Claim): string {
  return `${role} ${address}`;
}

function claimsOf({ source, kind, hostname, address, upstreamAddress, renewedAtMs = 0 }: Sighting): Claim[] {
  if (source !== 'lease') return [];
  const host = hostname?.toLowerCase() ?? '';
  return [
    ...(address === undefined ? [] : [{ role: kind, address, host, renewedAtMs }]),
    ...(upstreamAddress === undefined
      ? []
      : [{ role: 'upstream' as const, address: upstreamAddress, host, renewedAtMs }]),
  ];
}

import type { PeerEndpoint } from './peer-table.js';
import type { Selves, Sighting } from './sighting.js';

/** A server that has answered at some of its addresses, verified by TLS. */
export interface KnownServer {
  readonly identity: string;
  /** Lower case; empty if no source has a host name for the server. */
  readonly hosts: readonly string[];
  /** True if one of the host names is from a Straddle lease, where an operator chose it. */
  readonly namedByStraddle: boolean;
  /** Addresses at which the server has answered. */
  readonly addresses: readonly { readonly address: string /** Usable now. */; readonly answering: boolean }[];
}

/** Leases that claim one address for several host names. */
export interface AddressConflict {
  readonly address: string;
  /** The server that keeps the address; undefined if the address is not used at all. */
  readonly holder: string | undefined;
  /** Host names whose claims to the address are refused, sorted. */
  readonly refused: readonly string[];
}

export interface SettledClaims {
  readonly sightings: readonly Sighting[];
  readonly conflicts: readonly AddressConflict[];
}

/**
 * Age difference at which the older of two claims to one address is ignored. Leases are renewed
 * every 10 s, so an address whose older claim was not renewed for this long has moved to another
 * server. With two fresh claims the address is that of no single server (a load balancer, for
 * example).
 */
export const ADDRESS_CLAIM_STALE_MS = 60_000;

type Role = PeerEndpoint['kind'] | 'upstream';

interface Claim {
  readonly role: Role;
  readonly address: string;
  /** Empty without a host name; such a claim contests no address and joins no servers. */
  readonly host: string;
  readonly renewedAtMs: number;
}

/**
 * Removes the addresses from sightings whose claims to them are refused. Every user who may write
 * leases can claim any address. Therefore a server that has answered at an address keeps it while a
 * source still names the server there, and the server either answers or has a recent claim itself.
 * Otherwise the address passes to the next claimant at once.
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
  // An address with two fresh claims of one role belongs to no server, even if another role claims
  // it too.
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
      const [direct, upstream] = [kept.get(sighting.kind), kept.get('upstream')];
      return { ...rest, ...(direct ? { address: direct } : {}), ...(upstream ? { upstreamAddress: upstream } : {}) };
    }),
    conflicts: [...conflicts]
      .map(([address, hosts]) => ({ address, holder: holders.of(address)?.identity, refused: [...hosts].sort() }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** The known server that holds each address, and the claims admitted to a held address. */
class Holders {
  readonly #self: KnownServer;
  readonly #byAddress = new Map<string, KnownServer>();
  readonly #byHost = new Map<string, KnownServer>();
  /** Holders of the addresses that a host name claims. */
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
   * Returns whether a claim to an address is valid. A held address is open to its holder's names. A
   * new host name is admitted if it belongs to no other known server and claims addresses of one
   * holder only: it may be the first name of an unnamed server, or the name of the Straddle in
   * front of it.
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
  /** Undefined if several host names have fresh claims to the address. */
  readonly owner: string | undefined;
}

/** Owners of the addresses that no known server holds, by role and address. */
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

/** Groups claims by key (default: the address), without those much older than the newest. */
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

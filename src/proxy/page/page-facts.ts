import type { Reach, ServerState } from './page-state.js';
import type { ReachDocument } from './reach-document.js';
import { emulatedVersionOf, type ServerFacts, versionOf } from './server-facts.js';

/** Everything that the builders of verdict, servers and checks read: one moment of the control plane. */
export interface PageFacts {
  readonly nowMs: number;
  /** Requests that each server works on for this one. */
  readonly inFlight: ReadonlyMap<string, number>;
  readonly servers: readonly ServerFacts[];
  /** What the Straddles of peers say, by name of the peer. */
  readonly documents: ReadonlyMap<string, ReachDocument>;
  readonly peeringActive: boolean;
  readonly passthrough: boolean;
  /** Every source of peers has answered. */
  readonly synced: boolean;
  readonly leftOutCount: number;
  readonly conflictCount: number;
  readonly certificateExpiresAtMs: number | undefined;
  readonly frontProxyExpiresAtMs: number | undefined;
  /** Names and addresses under which peers may know this server. */
  readonly ownNames: readonly string[];
  /** This process stops. */
  readonly draining: boolean;
  /** Servers that were ready since the start and that no source names any more. */
  readonly missing: { readonly names: readonly string[]; readonly isCut: boolean };
  /** By server that answers: what it alone serves, with the verbs where it is alone with some. */
  readonly soleAt: ReadonlyMap<string, readonly string[]>;
}

/** Pairs of servers that are sent; those of 100 servers fit. */
export const REACH_PAIRS_MAX = 10_000;
const DETAIL_CHARS_MAX = 300;
/** As `straddle check`: leases are renewed every 10 s. */
const RENEWED_WITHIN_MS = 60_000;

/**
 * Returns whether a request for what a server lacks is sent to its peers there; undefined where this process cannot know: a
 * kube-apiserver without Straddle, or a Straddle that did not answer.
 */
export function isProtected({ isThis, name }: ServerFacts, facts: PageFacts): boolean | undefined {
  if (isThis) return facts.peeringActive && !facts.passthrough;
  const document = facts.documents.get(name);
  return document === undefined ? undefined : document.peering && !document.passthrough;
}

/** Returns whether passthrough is on at a server; undefined if it does not report it. */
export function hasPassthrough({ isThis, name }: ServerFacts, facts: PageFacts): boolean | undefined {
  return isThis ? facts.passthrough : facts.documents.get(name)?.passthrough;
}

export function expiryOf({ isThis, name }: ServerFacts, facts: PageFacts): number | undefined {
  return isThis ? facts.certificateExpiresAtMs : (facts.documents.get(name)?.certificateExpiresAtMs ?? undefined);
}

export function renewalOf({ name, leaseRenewedAtMs }: ServerFacts, facts: PageFacts): number | undefined {
  return leaseRenewedAtMs ?? facts.documents.get(name)?.leaseRenewedAtMs ?? undefined;
}

/** Returns whether a server has not renewed its lease for long; false where no renewal is known. */
export function isLeaseOld(server: ServerFacts, facts: PageFacts): boolean {
  const renewedAtMs = renewalOf(server, facts);
  return renewedAtMs !== undefined && facts.nowMs - renewedAtMs > RENEWED_WITHIN_MS;
}

export function serverStates(facts: PageFacts): ServerState[] {
  return facts.servers.map((server) => ({
    name: server.name,
    isThis: server.isThis,
    version: versionOf(server.surface),
    emulatedVersion: emulatedVersionOf(server.surface),
    state: server.state,
    detail: server.detail.slice(0, DETAIL_CHARS_MAX),
    endpoints: server.endpoints,
    leaseRenewedAtMs: renewalOf(server, facts) ?? null,
    surfaceAtMs: server.surfaceAtMs ?? null,
    inFlight: facts.inFlight.get(server.name) ?? 0,
    certificateExpiresAtMs: expiryOf(server, facts) ?? null,
    passthrough: hasPassthrough(server, facts) ?? null,
  }));
}

/** Returns who reaches whom, as each server reports it. */
export function reachState(facts: PageFacts): Reach[] {
  const servers = facts.servers.filter(({ state }) => state !== 'gone');
  const pairs: Reach[] = [];
  for (const from of servers) {
    const reported = reportedBy(from, facts);
    for (const to of servers) {
      if (to === from) continue;
      if (pairs.length >= REACH_PAIRS_MAX) return pairs;
      const reaches = from.isThis ? to.state === 'ready' : reportedOf(to, reported, facts);
      pairs.push({ from: from.name, to: to.name, reaches });
    }
  }
  return pairs;
}

function reportedBy({ name: from }: ServerFacts, facts: PageFacts): Map<string, boolean> {
  const reported = new Map<string, boolean>();
  for (const { name, reaches } of facts.documents.get(from)?.peers ?? []) {
    const key = name.toLowerCase();
    reported.set(key, reaches && reported.get(key) !== false);
  }
  return reported;
}

function reportedOf(to: ServerFacts, reported: ReadonlyMap<string, boolean>, { ownNames }: PageFacts): boolean | null {
  const names = to.isThis ? [to.name, ...ownNames] : [to.name];
  const found = names.flatMap((name) => reported.get(name.toLowerCase()) ?? []);
  return found.length === 0 ? null : found.every((reaches) => reaches);
}

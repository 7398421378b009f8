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
}

/** Pairs of servers that are sent; those of 100 servers fit. */
export const REACH_PAIRS_MAX = 10_000;
const DETAIL_CHARS_MAX = 300;

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
    const reported = new Map(
      facts.documents.get(from.name)?.peers.map(({ name, reaches }) => [name.toLowerCase(), reaches]),
    );
    for (const to of servers) {
      if (to === from) continue;
      if (pairs.length >= REACH_PAIRS_MAX) return pairs;
      const reaches = from.isThis ? to.state === 'ready' : (reported.get(to.name.toLowerCase()) ?? null);
      pairs.push({ from: from.name, to: to.name, reaches });
    }
  }
  return pairs;
}

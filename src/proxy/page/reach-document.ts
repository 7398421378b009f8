import { member, parsedObject } from '../../kube/json.js';
import type { ServerFacts } from './server-facts.js';

/** The reply to GET /straddle/api/v1/reach: what the Straddle of one server says of itself, to the other Straddles. */
export interface ReachDocument {
  readonly kind: 'StraddleReach';
  readonly formatVersion: 1;
  readonly server: string;
  readonly straddleVersion: string;
  /** Its mixed version proxy is configured. */
  readonly peering: boolean;
  readonly passthrough: boolean;
  readonly leaseRenewedAtMs: number | null;
  readonly certificateExpiresAtMs: number | null;
  readonly peers: readonly { readonly name: string; readonly reaches: boolean }[];
  /** Servers that went away, and that it remembers for what only they served. */
  readonly departed: readonly string[];
  /** It stops. */
  readonly draining: boolean;
}

/** A longer document of a peer is not read. */
export const REACH_BYTES_MAX = 64 * 1024;
const PEERS_MAX = 256;
const NAME_CHARS_MAX = 253;
const VERSION = /^[\w.+-]{1,64}$/;
/** Of Unix times that a Date can hold. */
const TIME_MS_MAX = 8.64e15;

export function reachDocument(
  facts: readonly ServerFacts[],
  about: Omit<ReachDocument, 'kind' | 'formatVersion' | 'peers' | 'departed'>,
): ReachDocument {
  const peers = facts
    .filter(({ isThis }) => !isThis)
    .slice(0, PEERS_MAX)
    .map(({ name, state }) => ({ name, reaches: state === 'ready' }));
  const departed = facts.filter(({ state }) => state === 'gone').map(({ name }) => name);
  return { kind: 'StraddleReach', formatVersion: 1, ...about, peers, departed: departed.slice(0, PEERS_MAX) };
}

/** Reads the document of a peer, which may be anything; undefined if it is no such document. */
export function readReachDocument(text: string): ReachDocument | undefined {
  const document = parsedObject(text);
  if (member(document, 'kind') !== 'StraddleReach' || member(document, 'formatVersion') !== 1) return undefined;
  const version = member(document, 'straddleVersion');
  const peers = member(document, 'peers');
  const departed = member(document, 'departed');
  return {
    kind: 'StraddleReach',
    formatVersion: 1,
    server: nameOf(member(document, 'server')) ?? '',
    straddleVersion: typeof version === 'string' && VERSION.test(version) ? version : '',
    peering: member(document, 'peering') === true,
    passthrough: member(document, 'passthrough') === true,
    leaseRenewedAtMs: timeOf(member(document, 'leaseRenewedAtMs')),
    certificateExpiresAtMs: timeOf(member(document, 'certificateExpiresAtMs')),
    peers: (Array.isArray(peers) ? peers.slice(0, PEERS_MAX) : []).flatMap((each) => {
      if (typeof each !== 'object' || each === null || Array.isArray(each)) return [];
      const name = nameOf(member(each, 'name'));
      return name === undefined ? [] : [{ name, reaches: member(each, 'reaches') === true }];
    }),
    departed: (Array.isArray(departed) ? departed.slice(0, PEERS_MAX) : []).flatMap((each) => nameOf(each) ?? []),
    draining: member(document, 'draining') === true,
  };
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX ? value : undefined;
}

function timeOf(value: unknown): number | null {
  return typeof value === 'number' && Math.abs(value) <= TIME_MS_MAX ? value : null;
}

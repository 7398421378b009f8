import { setTimeout as delay } from 'node:timers/promises';
import type { Surface } from '../../kube/surface.js';
import type { Peer } from '../../proxy/peers/peer-table.js';
import type { Network } from './network.js';
import type { Member } from './test-member.js';

const AGREED_MS_MAX = 30_000;
const POLL_MS = 10;
/** Servers that have just found each other are reading already, and need no push. */
const PATIENCE_MS = 200;

interface Pair {
  readonly one: Member;
  readonly other: Member;
}

/**
 * Resolves when every running server knows what every other one serves that it can reach, so that a test never sees the
 * moment before.
 */
export async function untilAgreed(
  members: readonly Member[],
  { network, isClosed }: { readonly network: Network; readonly isClosed: () => boolean },
): Promise<void> {
  const pairs = members.flatMap((one) => members.flatMap((other) => (one === other ? [] : [{ one, other }])));
  const beganMs = performance.now();
  for (;;) {
    const blind = pairs.filter((pair) => !sees(pair, network));
    if (blind.length === 0 || isClosed()) return;
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > AGREED_MS_MAX) {
      const names = blind.map(({ one, other }) => `${one.name} of ${other.name}`);
      throw new Error(`servers do not know each other after ${AGREED_MS_MAX / 1000} s: ${names.join(', ')}`);
    }
    await delay(POLL_MS);
    if (waitedMs > PATIENCE_MS) await Promise.all(blind.map(lookAgain));
  }
}

function sees(pair: Pair, network: Network): boolean {
  const { one, other } = pair;
  if (!one.running || !other.running || !network.passes(one.name, other.name)) return true;
  const surface = peerOf(pair)?.surface;
  const served = other.running.surface();
  if (!surface || !served || !same(surface, served)) return false;
  return peerOf(pair)!.endpoints.some((endpoint) => endpoint.usable());
}

/** Without this, a server that was away is asked again only after a cool-down of some seconds. */
async function lookAgain(pair: Pair): Promise<void> {
  const peer = peerOf(pair);
  if (peer) await pair.one.running?.directory.refresh(peer);
}

function peerOf({ one, other }: Pair): Peer | undefined {
  return one.running?.directory.snapshot().peers.find(({ identity }) => identity === other.name);
}

function same(seen: Surface, served: Surface): boolean {
  if (seen.kubernetesVersion !== served.kubernetesVersion || seen.resources.size !== served.resources.size)
    return false;
  return [...served.resources.keys()].every((key) => seen.resources.has(key));
}

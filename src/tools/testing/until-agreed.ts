import { setTimeout as delay } from 'node:timers/promises';
import type { Surface } from '../../kube/surface.js';
import type { Peer } from '../../proxy/peers/peer-table.js';
import type { Network } from './network.js';
import type { TestMember } from './test-member.js';

const AGREED_MS_MAX = 30_000;
const POLL_MS = 10;
/** Time before surfaces are read again: servers that have just found each other are reading already. */
const PATIENCE_MS = 200;

interface Pair {
  readonly one: TestMember;
  readonly other: TestMember;
}

/** Resolves when every running server has read the surface of every other one that it can reach. */
export async function untilAgreed(
  members: readonly TestMember[],
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

/** Reads the peer again at once instead of after a cool-down of some seconds. */
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

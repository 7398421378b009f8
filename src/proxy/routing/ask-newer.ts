import type { Metrics } from '../../base/metric-catalogue.js';
import { discard } from '../../http/discard.js';
import type { Exchange } from '../../http/exchange.js';
import { canSendAgain } from '../../http/send-again.js';
import { StatusError } from '../../kube/status-error.js';
import type { Surface } from '../../kube/surface.js';
import type { PeerDirectory } from '../peers/peer-table.js';
import { classifyReply } from './classify-reply.js';
import { newestPeers } from './newer-peers.js';
import { capablePeers, type RerouteOutcome, type Rerouter, type ServedReply } from './reroute.js';

export interface AskNewerOptions {
  readonly rerouter: Rerouter;
  readonly directory: PeerDirectory;
  readonly localSurface: () => Surface | undefined;
  readonly metrics: Metrics;
}

/** Returns undefined at once where there is nothing to ask, which is nearly always. Never rejects. */
export type AskNewer = (exchange: Exchange, refused: ServedReply) => Promise<ServedReply> | undefined;

/**
 * Makes a function that sends a read, refused for a field selector or an option that its server does not know, to a peer of
 * a newer version: one request more, within the limits of rerouted requests. Resolves with the answer of that peer, or with
 * the refusal if the peer refuses too or cannot answer.
 */
export function createAskNewer(options: AskNewerOptions): AskNewer {
  const { directory, localSurface } = options;
  return (exchange, refused) => {
    if (!isRefusedOption(exchange, refused) || !canSendAgain(exchange)) return undefined;
    const by = refused.from ? refused.from.peer.surface : localSurface();
    const version = by?.kubernetesVersion ?? '';
    const newer = () => newestPeers(capablePeers(exchange, directory.snapshot()), version);
    return newer().length === 0 ? undefined : askAmong(options, exchange, refused, newer);
  };
}

async function askAmong(
  { rerouter, metrics }: AskNewerOptions,
  exchange: Exchange,
  refused: ServedReply,
  newer: () => ReturnType<typeof newestPeers>,
): Promise<ServedReply> {
  const { routed, heldBack } = exchange;
  const passOn = (outcome: 'refused' | 'unavailable'): ServedReply => {
    exchange.routed = routed;
    // The rerouter has noted that no peer could answer, but the client gets the refusal of the first server.
    exchange.heldBack = heldBack;
    metrics.unknownOptions.labels(outcome).inc();
    return refused;
  };
  let outcome: RerouteOutcome;
  try {
    outcome = await rerouter.reroute(exchange, newer(), 'a newer server may know the option', { among: newer });
  } catch (error) {
    // No peer could answer, or all were busy. The refusal is a complete answer, and a bad selector must not become a retry.
    if (error instanceof StatusError) return passOn('unavailable');
    throw error;
  }
  if (outcome.kind !== 'reply') return passOn('unavailable');
  if (isRefusedOption(exchange, outcome)) {
    discard(outcome.reply);
    return passOn('refused');
  }
  discard(refused.reply);
  metrics.unknownOptions.labels('answered').inc();
  return outcome;
}

function isRefusedOption(exchange: Exchange, { reply, from }: ServedReply): boolean {
  return classifyReply(exchange, reply, from?.endpoint.kind ?? 'kube-apiserver') === 'unknown-option';
}

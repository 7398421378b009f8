import type { Exchange } from '../../http/exchange.js';
import type { Peer, PeerDirectory } from '../peers/peer-table.js';
import { capablePeers } from './reroute.js';

export interface AlternativesOptions {
  readonly directory: () => Pick<PeerDirectory, 'snapshot' | 'refresh'>;
  /** Returns whether the local server takes requests now and serves this one. */
  readonly localServes: (exchange: Exchange) => boolean;
}

/** Bound on the peers in cool-down that are probed at a time, because a request waits for a server that hangs. */
const PROBED_MAX = 4;

/**
 * Whether another server could take a request whose server has been found to hang. Where none could, the request waits on: the
 * server may only be slow, and a 503 would be certain. A capable peer in cool-down does not count, but is probed, so that the
 * answer is right when the request is looked at again.
 */
export class Alternatives {
  readonly #options: AlternativesOptions;
  readonly #probed = new Set<string>();

  constructor(options: AlternativesOptions) {
    this.#options = options;
  }

  /** Instead of the local server. */
  toLocal(exchange: Exchange): boolean {
    return !exchange.localOnly && this.#among(exchange);
  }

  /** Instead of a peer. */
  toPeer(exchange: Exchange, { identity }: Peer): boolean {
    return this.#options.localServes(exchange) || this.#among(exchange, identity);
  }

  #among(exchange: Exchange, except?: string): boolean {
    const capable = capablePeers(exchange, this.#options.directory().snapshot());
    const others = capable.filter(({ identity }) => identity !== except);
    if (others.some(({ endpoints }) => endpoints.some((each) => each.usable()))) return true;
    for (const peer of others) this.#probe(peer);
    return false;
  }

  #probe(peer: Peer): void {
    const { identity } = peer;
    if (this.#probed.size >= PROBED_MAX || this.#probed.has(identity)) return;
    this.#probed.add(identity);
    const over = () => this.#probed.delete(identity);
    this.#options.directory().refresh(peer).then(over, over);
  }
}

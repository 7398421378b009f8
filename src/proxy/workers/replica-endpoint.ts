import type { Destination } from '../../http/outgoing.js';
import type { PeerEndpoint } from '../peers/peer-table.js';
import type { SentEndpoint } from './worker-messages.js';

/**
 * One address of a peer in a worker. Whether it may get traffic is for the head to say, which probes it; only a failure
 * of this worker's own counts at once, until the head has answered for it.
 */
export class ReplicaEndpoint implements PeerEndpoint {
  readonly kind: PeerEndpoint['kind'];
  readonly destination: Destination;
  readonly #tellFailure: (why: string) => number;
  #headSays = false;
  /** Number of the last failure here. */
  #failed = 0;
  #heard = 0;

  constructor(
    kind: PeerEndpoint['kind'],
    destination: Destination,
    /** Returns the number under which the failure was told; they grow. */
    tellFailure: (why: string) => number,
  ) {
    this.kind = kind;
    this.destination = destination;
    this.#tellFailure = tellFailure;
  }

  take({ usable, failureHeard }: SentEndpoint): void {
    this.#headSays = usable;
    this.#heard = failureHeard;
  }

  usable = (): boolean => this.#headSays && this.#heard >= this.#failed;

  /** Answers are not told: the head's own probes are frequent enough to know that a server is there. */
  report(outcome: 'answered' | 'failed', why = 'a request failed'): void {
    // Further failures of what is out of use already are echoes.
    if (outcome === 'answered' || !this.usable()) return;
    this.#failed = this.#tellFailure(why);
  }
}

import type { Destination } from '../../http/outgoing.js';
import type { PeerEndpoint } from '../peers/peer-table.js';
import type { SentEndpoint } from './worker-messages.js';

/**
 * One address of a peer in a worker. The head probes it and decides whether it may get traffic. A
 * failure in this worker makes it unusable at once, until a view from the head takes that failure
 * into account.
 */
export class ReplicaEndpoint implements PeerEndpoint {
  readonly kind: PeerEndpoint['kind'];
  readonly destination: Destination;
  readonly #tellFailure: (why: string) => number;
  #headSays = false;
  /** Number of the last failure in this worker. */
  #failed = 0;
  #heard = 0;

  constructor(
    kind: PeerEndpoint['kind'],
    destination: Destination,
    /** Reports a failure to the head and returns its number; numbers grow. */
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

  /** Reports failures only: the head learns from its probes that a server is reachable. */
  report(outcome: 'answered' | 'failed', why = 'a request failed'): void {
    // Further failures of an unusable address have the same cause.
    if (outcome === 'answered' || !this.usable()) return;
    this.#failed = this.#tellFailure(why);
  }
}

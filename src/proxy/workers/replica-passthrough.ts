import type {
  Passthrough,
  PassthroughState,
  PassthroughSwitched,
  WantedPassthrough,
} from '../passthrough/passthrough.js';

/** The panic switch of a worker: the state that the head has sent last, and orders that the head carries out. */
export class ReplicaPassthrough implements Passthrough {
  readonly #order: (wanted: WantedPassthrough) => Promise<PassthroughSwitched>;
  #state: PassthroughState;

  /** `order` resolves after the head has sent the new state to all workers, this one included. */
  constructor(first: PassthroughState, order: (wanted: WantedPassthrough) => Promise<PassthroughSwitched>) {
    this.#state = first;
    this.#order = order;
  }

  get state(): PassthroughState {
    return this.#state;
  }

  take(state: PassthroughState): void {
    this.#state = state;
  }

  set(wanted: WantedPassthrough): Promise<PassthroughSwitched> {
    return this.#order(wanted);
  }

  /** Without effect: the head has the file and writes the log lines. */
  async close(): Promise<void> {}
}

/** Open request, as seen by the graceful shutdown and the progress sweep. */
export interface OpenExchange {
  /** True when the reply is complete or the connection closed. */
  readonly isDone: boolean;
  /** The list it is on and its neighbours, set by OpenExchanges. It removes itself when done. */
  list: OpenExchanges | undefined;
  before: OpenExchange | undefined;
  after: OpenExchange | undefined;
  /** Ends a watch at its next event boundary; other requests run to their end. */
  endWhenClean(): void;
  cut(): void;
  /**
   * Ends the request if it waits for a client without progress for `progressMs`; returns true if it
   * did.
   */
  endIfStalled(nowMs: number, progressMs: number): boolean;
}

/**
 * Open requests, so that a shutdown can wait for them. An intrusive linked list, not a Set: V8
 * replaces the backing store of a Set every few insertions and deletions, and each old store refers
 * to its successor. Once one of them is tenured, it keeps all later ones and their requests alive
 * until a major garbage collection (docs/performance.md).
 */
export class OpenExchanges {
  #first: OpenExchange | undefined;
  #last: OpenExchange | undefined;
  #size = 0;
  #draining = false;
  #onIdle: (() => void) | undefined;

  get size(): number {
    return this.#size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  add(exchange: OpenExchange): void {
    if (exchange.isDone) return;
    exchange.list = this;
    exchange.before = this.#last;
    if (this.#last) this.#last.after = exchange;
    else this.#first = exchange;
    this.#last = exchange;
    this.#size++;
    if (this.#draining) exchange.endWhenClean();
  }

  remove(exchange: OpenExchange): void {
    if (exchange.list !== this) return;
    const { before, after } = exchange;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    exchange.list = undefined;
    exchange.before = undefined;
    exchange.after = undefined;
    this.#size--;
    if (this.#size === 0) this.#onIdle?.();
  }

  drain(): void {
    this.#draining = true;
    for (const exchange of this.#all()) exchange.endWhenClean();
  }

  /** Ends requests whose clients make no progress; returns their number. */
  endStalled(nowMs: number, progressMs: number): number {
    let ended = 0;
    // Ending one request may end others of its connection.
    for (const each of this.#all()) if (!each.isDone && each.endIfStalled(nowMs, progressMs)) ended += 1;
    return ended;
  }

  cut(): void {
    for (const exchange of this.#all()) exchange.cut();
  }

  idle(): Promise<void> {
    if (this.#size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Returns a copy: callers remove requests from the list while they iterate. */
  #all(): OpenExchange[] {
    const all: OpenExchange[] = [];
    for (let each = this.#first; each; each = each.after) all.push(each);
    return all;
  }
}

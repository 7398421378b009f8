/** A request being answered, as the drain sees it. */
export interface OpenExchange {
  /** Nothing of it is left on its connection. */
  readonly isDone: boolean;
  /** Set by the list that it is put on; it takes itself off when it is done. */
  list: OpenExchanges | undefined;
  before: OpenExchange | undefined;
  after: OpenExchange | undefined;
  /** Ends a long-running answer at the next place where it can end cleanly; a short one goes on to its own end. */
  endWhenClean(): void;
  cut(): void;
  /** Ends it where its client is waited for and has made no progress for `progressMs`; returns whether it did. */
  endIfStalled(nowMs: number, progressMs: number): boolean;
}

/**
 * The requests under way, so that a shutdown can wait for them. They are linked to each other: a Set takes a new table every
 * few changes, and a table that has become old keeps what was in its successors from the garbage collector.
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

  /** Returns how many were ended. */
  endStalled(nowMs: number, progressMs: number): number {
    let ended = 0;
    // The end of one may end others of its connection.
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

  /** A copy: what is done with them takes them off. */
  #all(): OpenExchange[] {
    const all: OpenExchange[] = [];
    for (let each = this.#first; each; each = each.after) all.push(each);
    return all;
  }
}

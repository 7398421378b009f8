/** A request being answered, as the drain sees it. */
export interface OpenExchange {
  /** Nothing of it is left on its connection. */
  readonly isDone: boolean;
  /** Set by the list that it is put on; it takes itself off when it is done. */
  list: OpenExchanges | undefined;
  /** Ends a long-running answer at the next place where it can end cleanly; a short one goes on to its own end. */
  endWhenClean(): void;
  cut(): void;
}

/** The requests under way, so that a shutdown can wait for them. */
export class OpenExchanges {
  readonly #open = new Set<OpenExchange>();
  #draining = false;
  #onIdle: (() => void) | undefined;

  get size(): number {
    return this.#open.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  add(exchange: OpenExchange): void {
    if (exchange.isDone) return;
    this.#open.add(exchange);
    exchange.list = this;
    if (this.#draining) exchange.endWhenClean();
  }

  remove(exchange: OpenExchange): void {
    this.#open.delete(exchange);
    if (this.#open.size === 0) this.#onIdle?.();
  }

  drain(): void {
    this.#draining = true;
    for (const exchange of this.#open) exchange.endWhenClean();
  }

  cut(): void {
    for (const exchange of this.#open) exchange.cut();
  }

  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

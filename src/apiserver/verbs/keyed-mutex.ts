/**
 * Changes of one object, one after the other. Whoever changes what another is just changing would only lose the race and
 * begin again; waiting is cheaper, and fair. Other servers on the store know nothing of it: their races are still races.
 * Bounded by the number of requests in flight.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before ? before.then(work, work) : work();
    // What failed is told to whoever asked for it, not to who comes next.
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

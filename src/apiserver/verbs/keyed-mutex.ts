/**
 * A mutex for each key: serializes the changes of one object in this process, which is cheaper than
 * conflicts and retries, and fair. Other servers on the same store still cause conflicts. Bounded by the
 * number of requests in flight.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before ? before.then(work, work) : work();
    // A failure rejects only the call that failed: `then(work, work)` ignores it.
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

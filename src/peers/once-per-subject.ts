/** Keeps the log to one line a matter. Bounded: past the bound everything is told anew, which errs towards saying it. */
export class OncePerSubject {
  readonly #told = new Set<string>();
  readonly #subjectsMax: number;

  constructor(subjectsMax = 1_000) {
    this.#subjectsMax = subjectsMax;
  }

  isNew(subject: string): boolean {
    if (this.#told.has(subject)) return false;
    if (this.#told.size >= this.#subjectsMax) this.#told.clear();
    this.#told.add(subject);
    return true;
  }

  /** The matter is settled; should it come up again, it is news again. */
  forget(subject: string): void {
    this.#told.delete(subject);
  }
}

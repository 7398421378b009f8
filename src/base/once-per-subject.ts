/** Limits the log to one line per subject. Bounded: when full, all may be logged again. */
export class OncePerSubject {
  readonly #seen = new Set<string>();
  readonly #subjectsMax: number;

  constructor(subjectsMax = 1_000) {
    this.#subjectsMax = subjectsMax;
  }

  isNew(subject: string): boolean {
    if (this.#seen.has(subject)) return false;
    if (this.#seen.size >= this.#subjectsMax) this.#seen.clear();
    this.#seen.add(subject);
    return true;
  }

  /** Clears a subject that is resolved, so that it is logged when it occurs again. */
  forget(subject: string): void {
    this.#seen.delete(subject);
  }
}

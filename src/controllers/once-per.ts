/** Remembers what was said already, so that a condition that lasts is one line in the log and not thousands. */
export class OncePer {
  readonly #said = new Set<string>();

  isNew(subject: string): boolean {
    if (this.#said.has(subject)) return false;
    // Forgetting all at once may say some things twice, which is better than growing for ever.
    if (this.#said.size >= SUBJECTS_MAX) this.#said.clear();
    this.#said.add(subject);
    return true;
  }
}

const SUBJECTS_MAX = 1_000;

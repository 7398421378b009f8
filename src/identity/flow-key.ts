import { createHash } from 'node:crypto';

/** Credentials whose hash is remembered. */
export const FLOW_KEYS_MAX = 4096;
/** Longer credentials are hashed each time, so the memory is bounded by the product of the two. */
export const FLOW_CREDENTIAL_CHARS_MAX = 4096;

/**
 * Turns a credential into a short name for its owner. Remembers the most recent ones in two halves: when the young half
 * is full it becomes the old one, which costs a look-up on the hot path nothing but the look-up.
 */
export class FlowKeys {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  of(credential: string): string {
    const known = this.#young.get(credential);
    if (known !== undefined) return known;
    const key =
      this.#old.get(credential) ?? `token:${createHash('sha256').update(credential).digest('hex').slice(0, 16)}`;
    if (credential.length <= FLOW_CREDENTIAL_CHARS_MAX) this.#remember(credential, key);
    return key;
  }

  #remember(credential: string, key: string): void {
    if (this.#young.size >= FLOW_KEYS_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(credential, key);
  }
}

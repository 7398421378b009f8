import type { GroupDiscovery } from '../../kube/discovery.js';
import { servedKeys } from './differences.js';
import type { HalfRecord } from './half-record.js';
import type { ServedTruth } from './served-truth.js';

const NAMES_MAX = 3;

/** Reads of discovery by one client, each compared with the previous one. */
export class DiscoveryLooks {
  readonly #who: string;
  readonly #truth: ServedTruth;
  readonly #record: HalfRecord;
  #last: { readonly keys: ReadonlySet<string>; readonly atMs: number } | undefined;

  constructor(who: string, truth: ServedTruth, record: HalfRecord) {
    this.#who = who;
    this.#truth = truth;
    this.#record = record;
  }

  /** `askedAtMs`: time before the request, by the clock of the truth. */
  see(groups: readonly GroupDiscovery[], askedAtMs: number): void {
    const before = this.#last;
    const keys = new Set(servedKeys(groups));
    this.#last = { keys, atMs: askedAtMs };
    if (!before) return;
    const lacks = [...before.keys].filter((key) => !keys.has(key) && this.#isUnchanged(key, before.atMs));
    const regained = [...keys].filter((key) => !before.keys.has(key) && this.#isUnchanged(key, before.atMs));
    if (lacks.length > 0) this.#record.flap(`${this.#who}: discovery lacks ${some(lacks)}, which it had before`);
    if (regained.length > 0) this.#record.flap(`${this.#who}: discovery has ${some(regained)} again`);
  }

  #isUnchanged(key: string, sinceMs: number): boolean {
    return this.#truth.serves(key) && this.#truth.isSettledSince(key, sinceMs);
  }
}

function some(keys: readonly string[]): string {
  const more = keys.length - NAMES_MAX;
  return `${keys.slice(0, NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

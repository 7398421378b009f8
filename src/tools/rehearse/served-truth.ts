import type { Clock } from '../../base/clock.js';
import type { RehearsalServer } from './rehearsal-plane.js';

/**
 * Straddle promises that what a server serves is known everywhere within this time; discovery that differs from server
 * to server for less than that after a change is no flap.
 */
export const SETTLE_MS = 5_000;

/**
 * What the control plane as a whole serves, told from the versions of its servers and from nothing that it answers. A
 * resource counts as served as long as one server runs a version that has it; one that is being replaced by the same
 * version counts all the while, because it comes back.
 *
 * The moment at which the last such server is told to leave for a version without the resource is the end of it: from
 * then on a 404 is about to be true, and none is counted any more.
 */
export class ServedTruth {
  readonly #clock: Clock;
  /** Keys of resources by version. */
  readonly #surfaces = new Map<string, ReadonlySet<string>>();
  readonly #versions = new Map<string, string>();
  /** When the answer to `serves` last changed. */
  readonly #changedAtMs = new Map<string, number>();

  constructor(clock: Clock, servers: readonly RehearsalServer[]) {
    this.#clock = clock;
    for (const { name, version } of servers) this.#versions.set(name, version);
  }

  /** What a version serves by itself. */
  learn(version: string, keys: Iterable<string>): void {
    const isFirst = this.#surfaces.size === 0;
    const before = this.#served();
    this.#surfaces.set(version, new Set(keys));
    if (!isFirst) this.#note(before);
  }

  /** A server is about to leave its version: what only this version has is about to be gone. */
  leaves(server: string, to: string): void {
    if (this.#versions.get(server) === to) return;
    const before = this.#served();
    this.#versions.delete(server);
    this.#note(before);
  }

  /** A server is ready in this version. */
  entered(server: string, version: string): void {
    const before = this.#served();
    this.#versions.set(server, version);
    this.#note(before);
  }

  serves(key: string): boolean {
    return [...this.#versions.values()].some((version) => this.#surfaces.get(version)?.has(key));
  }

  /** Some server has it, and another one not. */
  isMixed(key: string): boolean {
    return this.serves(key) && [...this.#versions.values()].some((version) => !this.#surfaces.get(version)?.has(key));
  }

  /** Whether `serves` has had the same answer since this moment, and for as long before as servers need to agree. */
  isSettledSince(key: string, sinceMs: number): boolean {
    const changedAtMs = this.#changedAtMs.get(key);
    return changedAtMs === undefined || changedAtMs + SETTLE_MS <= sinceMs;
  }

  #served(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const version of new Set(this.#versions.values()))
      for (const key of this.#surfaces.get(version) ?? []) keys.add(key);
    return keys;
  }

  #note(before: ReadonlySet<string>): void {
    const after = this.#served();
    const nowMs = this.#clock.nowMs();
    for (const key of after) if (!before.has(key)) this.#changedAtMs.set(key, nowMs);
    for (const key of before) if (!after.has(key)) this.#changedAtMs.set(key, nowMs);
  }
}

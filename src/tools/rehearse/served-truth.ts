import type { Clock } from '../../base/clock.js';
import type { RehearsalServer } from './rehearsal-plane.js';

/**
 * Time within which all servers show a change, as Straddle promises. Discovery that differs between
 * servers for a shorter time after a change is no flap.
 */
export const SETTLE_MS = 5_000;

/**
 * The resources and subresources that the control plane serves, derived from the versions of its servers and not from
 * their replies. A resource is served as long as one server runs a version that has it; a server that
 * restarts in the same version counts all the time.
 *
 * A resource is no longer served from the moment at which its last server is told to change to a
 * version without it: 404s are right soon after, and none is counted any more.
 */
export class ServedTruth {
  readonly #clock: Clock;
  /** Keys (`servedKeys`) by version. */
  readonly #surfaces = new Map<string, ReadonlySet<string>>();
  readonly #versions = new Map<string, string>();
  /** Times at which the result of `serves` last changed. */
  readonly #changedAtMs = new Map<string, number>();

  constructor(clock: Clock, servers: readonly RehearsalServer[]) {
    this.#clock = clock;
    for (const { name, version } of servers) this.#versions.set(name, version);
  }

  /** Stores the surface of a version. */
  learn(version: string, keys: Iterable<string>): void {
    const isFirst = this.#surfaces.size === 0;
    const before = this.#served();
    this.#surfaces.set(version, new Set(keys));
    if (!isFirst) this.#note(before);
  }

  /** Called before a server is replaced: resources of its version alone are no longer served. */
  leaves(server: string, to: string): void {
    if (this.#versions.get(server) === to) return;
    const before = this.#served();
    this.#versions.delete(server);
    this.#note(before);
  }

  /** Called when a server is ready in a version. */
  entered(server: string, version: string): void {
    const before = this.#served();
    this.#versions.set(server, version);
    this.#note(before);
  }

  serves(key: string): boolean {
    return [...this.#versions.values()].some((version) => this.#surfaces.get(version)?.has(key));
  }

  /** Returns whether some server serves the resource and another one does not. */
  isMixed(key: string): boolean {
    return this.serves(key) && [...this.#versions.values()].some((version) => !this.#surfaces.get(version)?.has(key));
  }

  /** Returns whether `serves` has not changed since SETTLE_MS before the given time. */
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

import { detachedText } from '../../base/detached-text.js';
import { clientName, USER_AGENT_CHARS_MAX } from './client-name.js';
import type { ClientRow } from './page-state.js';

/** User agents that are counted apart. */
export const CLIENTS_MAX = 256;

interface Counts {
  requests: number;
  wouldHaveFailed: number;
  lastAtMs: number;
}

/** Requests of each client program and version. */
export class ClientCounts {
  readonly #byAgent = new Map<string, Counts>();
  #left = 0;

  count(userAgent: string, { nowMs, wouldHaveFailed }: { nowMs: number; wouldHaveFailed: boolean }): void {
    const cut = userAgent.length > USER_AGENT_CHARS_MAX ? userAgent.slice(0, USER_AGENT_CHARS_MAX) : userAgent;
    const counts = this.#byAgent.get(cut) ?? this.#add(cut, nowMs);
    counts.requests += 1;
    counts.lastAtMs = nowMs;
    if (wouldHaveFailed) counts.wouldHaveFailed += 1;
  }

  /** Requests of user agents that gave way at the bound. */
  get left(): number {
    return this.#left;
  }

  rows(): ClientRow[] {
    return mergeClients([...this.#byAgent].map(([agent, counts]) => ({ ...clientName(agent), ...counts })));
  }

  #add(cut: string, nowMs: number): Counts {
    if (this.#byAgent.size >= CLIENTS_MAX) this.#dropLeast();
    const counts: Counts = { requests: 0, wouldHaveFailed: 0, lastAtMs: nowMs };
    this.#byAgent.set(detachedText(cut), counts);
    return counts;
  }

  /** The one with the fewest requests, of those the longest silent: invented user agents give way to each other. */
  #dropLeast(): void {
    let least: readonly [string, Counts] | undefined;
    for (const entry of this.#byAgent) if (!least || isLess(entry[1], least[1])) least = entry;
    if (!least) return;
    this.#byAgent.delete(least[0]);
    this.#left += least[1].requests;
  }
}

function isLess(a: Counts, b: Counts): boolean {
  return a.requests < b.requests || (a.requests === b.requests && a.lastAtMs < b.lastAtMs);
}

/** Joins rows of one program and version; those with the most trouble first. */
export function mergeClients(rows: readonly ClientRow[]): ClientRow[] {
  const merged = new Map<string, ClientRow>();
  for (const row of rows) {
    const key = `${row.name}\n${row.version}`;
    const known = merged.get(key);
    merged.set(
      key,
      known
        ? {
            ...known,
            requests: known.requests + row.requests,
            wouldHaveFailed: known.wouldHaveFailed + row.wouldHaveFailed,
            lastAtMs: Math.max(known.lastAtMs, row.lastAtMs),
          }
        : row,
    );
  }
  return [...merged.values()].sort((a, b) => b.wouldHaveFailed - a.wouldHaveFailed || b.requests - a.requests);
}

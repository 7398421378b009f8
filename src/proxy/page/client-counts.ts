import { clientName, USER_AGENT_CHARS_MAX } from './client-name.js';
import type { ClientRow } from './page-state.js';

/** User agents that are counted apart. */
export const CLIENTS_MAX = 256;
/** At the bound, user agents that were silent for this long give up their place to new ones. */
const SILENT_MS_MAX = 3_600_000;
/** At the bound, silent ones are looked for at most this often. */
const SWEEP_EVERY_MS = 60_000;

interface Counts {
  requests: number;
  wouldHaveFailed: number;
  lastAtMs: number;
}

/** Requests of each client program and version. */
export class ClientCounts {
  readonly #byAgent = new Map<string, Counts>();
  #left = 0;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  count(userAgent: string, { nowMs, wouldHaveFailed }: { nowMs: number; wouldHaveFailed: boolean }): void {
    const key = userAgent.length > USER_AGENT_CHARS_MAX ? userAgent.slice(0, USER_AGENT_CHARS_MAX) : userAgent;
    const counts = this.#byAgent.get(key) ?? this.#add(key, nowMs);
    if (!counts) {
      this.#left += 1;
      return;
    }
    counts.requests += 1;
    counts.lastAtMs = nowMs;
    if (wouldHaveFailed) counts.wouldHaveFailed += 1;
  }

  /** Requests of user agents beyond the bound. */
  get left(): number {
    return this.#left;
  }

  rows(): ClientRow[] {
    return mergeClients([...this.#byAgent].map(([agent, counts]) => ({ ...clientName(agent), ...counts })));
  }

  #add(key: string, nowMs: number): Counts | undefined {
    if (this.#byAgent.size >= CLIENTS_MAX) this.#sweep(nowMs);
    if (this.#byAgent.size >= CLIENTS_MAX) return undefined;
    const counts: Counts = { requests: 0, wouldHaveFailed: 0, lastAtMs: nowMs };
    this.#byAgent.set(key, counts);
    return counts;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < SWEEP_EVERY_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { requests, lastAtMs }] of this.#byAgent) {
      if (nowMs - lastAtMs <= SILENT_MS_MAX) continue;
      this.#byAgent.delete(key);
      this.#left += requests;
    }
  }
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

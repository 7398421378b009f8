import { CLIENTS_MAX, mergeClients } from './client-counts.js';
import { FLOW_ROWS_MAX, type FlowExport, PREVENTED_RUNS_MAX, type PreventedRun } from './flow-recorder.js';
import { NO_COUNTS, sumOfCounts } from './flow-seconds.js';
import type { Clients, Flow, FlowCounts, FlowRow, FlowSecond } from './page-state.js';
import { USES_MAX } from './resource-uses.js';

/** The recorder of one process; numbers of processes are never used twice. */
export type SourcedFlow = readonly [source: number, flow: FlowExport];

export const CLIENT_ROWS_MAX = 200;

type Ended = Pick<FlowExport, 'totals' | 'left' | 'clients' | 'clientsLeft' | 'prevented'>;

/** Joins what the recorders of all processes of a server hold. Rows get ids of their own, because recorders number apart. */
export class FlowLog {
  readonly #lastRow = new Map<number, number>();
  readonly #last = new Map<number, FlowExport>();
  /** Of processes that have ended: what was counted must not decrease. */
  #ended: Ended = { totals: NO_COUNTS, left: 0, clients: [], clientsLeft: 0, prevented: [] };
  #rows: FlowRow[] = [];
  #lastId = 0;
  #used: ReadonlyMap<string, number> = new Map();

  take(flows: readonly SourcedFlow[]): void {
    const fresh: FlowRow[] = [];
    for (const [source, flow] of flows) {
      const known = this.#lastRow.get(source) ?? 0;
      fresh.push(...flow.rows.filter(({ id }) => id > known));
      this.#lastRow.set(source, flow.rows.at(-1)?.id ?? known);
      this.#last.set(source, flow);
    }
    this.#forgetEnded(new Set(flows.map(([source]) => source)));
    fresh.sort((a, b) => a.atMs - b.atMs);
    for (const row of fresh) this.#rows.push({ ...row, id: ++this.#lastId });
    this.#rows = this.#rows.slice(-FLOW_ROWS_MAX);
    if (flows.some(([, { used }]) => used !== undefined)) this.#used = latest(this.#used, flows);
  }

  flow(): Flow {
    const flows = [...this.#last.values()];
    return {
      recent: [...this.#rows].reverse(),
      seconds: sumOfSeconds(flows),
      totals: flows.reduce((sum, { totals }) => sumOfCounts(sum, totals), this.#ended.totals),
      left: flows.reduce((sum, { left }) => sum + left, this.#ended.left),
    };
  }

  clients(): Clients {
    const flows = [...this.#last.values()];
    const rows = mergeClients([...this.#ended.clients, ...flows.flatMap(({ clients }) => clients)]);
    const beyond = rows.slice(CLIENT_ROWS_MAX).reduce((sum, { requests }) => sum + requests, 0);
    const left = flows.reduce((sum, { clientsLeft }) => sum + clientsLeft, beyond + this.#ended.clientsLeft);
    return { rows: rows.slice(0, CLIENT_ROWS_MAX), left };
  }

  /** Runs of prevented 404s of all processes; runs at the same time are one. */
  prevented(): PreventedRun[] {
    return joinedRuns([this.#ended.prevented, ...[...this.#last.values()].map(({ prevented }) => prevented)].flat());
  }

  /** Requests that each server works on, for all processes. */
  inFlight(): ReadonlyMap<string, number> {
    const sum = new Map<string, number>();
    for (const { inFlight } of this.#last.values()) {
      for (const [server, count] of inFlight) sum.set(server, (sum.get(server) ?? 0) + count);
    }
    return sum;
  }

  /** When each resource was last used, by the names of the skew matrix. */
  used(): ReadonlyMap<string, number> {
    return this.#used;
  }

  #forgetEnded(sources: ReadonlySet<number>): void {
    for (const [source, flow] of this.#last) {
      if (sources.has(source)) continue;
      this.#ended = withEnded(this.#ended, flow);
      this.#last.delete(source);
      this.#lastRow.delete(source);
    }
  }
}

/** Adds what a process had counted at its end. Processes may end again and again, so that all lists have bounds. */
function withEnded(ended: Ended, { totals, left, clients, clientsLeft, prevented }: FlowExport): Ended {
  const rows = mergeClients([...ended.clients, ...clients]);
  const beyond = rows.slice(CLIENTS_MAX).reduce((sum, { requests }) => sum + requests, 0);
  return {
    totals: sumOfCounts(ended.totals, totals),
    left: ended.left + left,
    clients: rows.slice(0, CLIENTS_MAX),
    clientsLeft: ended.clientsLeft + clientsLeft + beyond,
    prevented: joinedRuns([...ended.prevented, ...prevented]).slice(-PREVENTED_RUNS_MAX),
  };
}

/** Runs at the same time become one. */
function joinedRuns(runs: readonly PreventedRun[]): PreventedRun[] {
  const joined: PreventedRun[] = [];
  for (const run of [...runs].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (!last || run.fromMs > last.toMs) joined.push(run);
    else {
      const toMs = Math.max(last.toMs, run.toMs);
      joined[joined.length - 1] = { fromMs: last.fromMs, toMs, count: last.count + run.count };
    }
  }
  return joined;
}

/** A process may miss an export, or end: what was known before stays. */
function latest(before: ReadonlyMap<string, number>, flows: readonly SourcedFlow[]): ReadonlyMap<string, number> {
  const used = new Map(before);
  for (const [, flow] of flows) {
    for (const [name, atMs] of flow.used ?? []) {
      if (used.has(name) || used.size < USES_MAX) used.set(name, Math.max(used.get(name) ?? 0, atMs));
    }
  }
  return used;
}

function sumOfSeconds(flows: readonly FlowExport[]): readonly FlowSecond[] {
  const [only] = flows;
  if (flows.length <= 1) return only?.seconds ?? [];
  const bySecond = new Map<number, FlowCounts>();
  for (const { seconds } of flows) {
    for (const { atMs, ...counts } of seconds) {
      bySecond.set(atMs, sumOfCounts(bySecond.get(atMs) ?? NO_COUNTS, counts));
    }
  }
  return [...bySecond].sort(([a], [b]) => a - b).map(([atMs, counts]) => ({ atMs, ...counts }));
}

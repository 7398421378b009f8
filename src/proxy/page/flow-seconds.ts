import type { FlowCounts, FlowSecond } from './page-state.js';

/** Seconds for which there are counts. */
export const FLOW_SECONDS_MAX = 15 * 60;

export interface Counted {
  readonly rerouted: boolean;
  readonly prevented404: boolean;
  readonly held503: boolean;
  readonly failovers: number;
}

const FIELDS = 5;

/** Counts of each of the last seconds, and since the start, in fixed memory. */
export class FlowSeconds {
  /** Five numbers for each second, in the order of FlowCounts. */
  readonly #counts = new Float64Array(FLOW_SECONDS_MAX * FIELDS);
  /** The second that a place holds. */
  readonly #secondOf = new Float64Array(FLOW_SECONDS_MAX);
  readonly #totals = new Float64Array(FIELDS);
  readonly #startedSecond: number;

  constructor(nowMs: number) {
    this.#startedSecond = Math.floor(nowMs / 1_000);
  }

  count(nowMs: number, counted: Counted): void {
    const second = Math.floor(nowMs / 1_000);
    const place = second % FLOW_SECONDS_MAX;
    const at = place * FIELDS;
    if (this.#secondOf[place] !== second) {
      this.#secondOf[place] = second;
      this.#counts.fill(0, at, at + FIELDS);
    }
    add(this.#counts, at, counted);
    add(this.#totals, 0, counted);
  }

  totals(): FlowCounts {
    return countsAt(this.#totals, 0);
  }

  /** Returns the seconds that are over, oldest first, also those without requests. */
  complete(nowMs: number): FlowSecond[] {
    const end = Math.floor(nowMs / 1_000);
    const seconds: FlowSecond[] = [];
    for (let second = Math.max(this.#startedSecond, end - FLOW_SECONDS_MAX + 1); second < end; second++) {
      const place = second % FLOW_SECONDS_MAX;
      const counts = this.#secondOf[place] === second ? countsAt(this.#counts, place * FIELDS) : NO_COUNTS;
      seconds.push({ atMs: second * 1_000, ...counts });
    }
    return seconds;
  }
}

export const NO_COUNTS: FlowCounts = { requests: 0, rerouted: 0, prevented404: 0, held503: 0, failovers: 0 };

export function sumOfCounts(a: FlowCounts, b: FlowCounts): FlowCounts {
  return {
    requests: a.requests + b.requests,
    rerouted: a.rerouted + b.rerouted,
    prevented404: a.prevented404 + b.prevented404,
    held503: a.held503 + b.held503,
    failovers: a.failovers + b.failovers,
  };
}

function add(numbers: Float64Array, at: number, counted: Counted): void {
  numbers[at]! += 1;
  if (counted.rerouted) numbers[at + 1]! += 1;
  if (counted.prevented404) numbers[at + 2]! += 1;
  if (counted.held503) numbers[at + 3]! += 1;
  numbers[at + 4]! += counted.failovers;
}

function countsAt(numbers: Float64Array, at: number): FlowCounts {
  return {
    requests: numbers[at]!,
    rerouted: numbers[at + 1]!,
    prevented404: numbers[at + 2]!,
    held503: numbers[at + 3]!,
    failovers: numbers[at + 4]!,
  };
}

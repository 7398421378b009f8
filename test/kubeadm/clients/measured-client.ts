import { performance } from 'node:perf_hooks';
import { Load, type Outcome } from '../../real/rig/load.js';

/** A part of the run, in milliseconds of `performance.now()`. */
export interface Phase {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ClientOptions {
  readonly name: string;
  readonly ratePerSecond: number;
  /** Statuses that are an answer as wished. */
  readonly good: readonly number[];
  readonly send: (index: number) => Promise<{ status: number; text: string }>;
  /** 1 for a client that sends one request after another. */
  readonly inFlightMax?: number;
}

/** A client that sends requests at a steady rate, and what became of each. */
export class MeasuredClient {
  readonly name: string;
  readonly #load: Load;
  readonly #good: readonly number[];
  readonly #startedMs = performance.now();
  #stoppedMs = Number.POSITIVE_INFINITY;

  constructor({ name, ratePerSecond, good, send, inFlightMax = 50 }: ClientOptions) {
    this.name = name;
    this.#good = good;
    this.#load = new Load({ ratePerSecond, send, inFlightMax });
  }

  async stop(): Promise<readonly Outcome[]> {
    const outcomes = await this.#load.stop();
    this.#stoppedMs = Math.min(this.#stoppedMs, performance.now());
    return outcomes;
  }

  /** Requests that were sent in a phase. */
  sentIn({ fromMs, toMs }: Phase): Outcome[] {
    return this.#load.outcomes.filter(({ startedMs }) => startedMs >= fromMs && startedMs < toMs);
  }

  failedIn(phase: Phase): Outcome[] {
    return this.sentIn(phase).filter((outcome) => !this.#good.includes(outcome.status));
  }

  /** The longest time of a phase without a good answer, while it ran. */
  longestSilenceMs(phase: Phase): number {
    const fromMs = Math.max(phase.fromMs, this.#startedMs);
    const toMs = Math.min(phase.toMs, this.#stoppedMs);
    const answered = this.#load.outcomes
      .filter(({ status }) => this.#good.includes(status))
      .map(({ startedMs, tookMs }) => startedMs + tookMs)
      .filter((atMs) => atMs >= fromMs && atMs <= toMs)
      .sort((a, b) => a - b);
    const edges = [fromMs, ...answered, toMs];
    return Math.max(...edges.slice(1).map((atMs, index) => atMs - edges[index]!));
  }
}

/** Runs a part of the test, and returns it as a phase. */
export async function phase(name: string, work: () => Promise<void>): Promise<Phase> {
  const fromMs = performance.now();
  await work();
  return { name, fromMs, toMs: performance.now() };
}

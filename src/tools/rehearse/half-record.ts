import type { Clock } from '../../base/clock.js';
import { LatencyHistogram } from './latency-histogram.js';
import type { Example, ExecResult, HalfResult, RehearsalStep, SceneCounts, SecondSample } from './rehearsal-result.js';

/** The kind of resource of a request: served by every server, or only by some. */
export type Share = 'common' | 'skewed';

export type RequestVerdict = 'well' | 'wrong-404' | 'unavailable-503' | 'other-error';

export interface RecordedAnswer {
  readonly share: Share;
  readonly verdict: RequestVerdict;
  readonly tookMs: number;
  /** Request and reply, for the example of a failure. */
  readonly text: string;
}

const EXAMPLES_PER_KIND_MAX = 5;
const EXAMPLE_CHARS_MAX = 300;
const SECONDS_MAX = 4 * 3_600;
const EXECS_MAX = 100;

interface Second {
  readonly latency: LatencyHistogram;
  requests: number;
  wrong404s: number;
  unavailable503s: number;
  otherErrors: number;
  discoveryFlaps: number;
}

const COUNTED = {
  'wrong-404': 'wrong404s',
  'unavailable-503': 'unavailable503s',
  'other-error': 'otherErrors',
} as const;

/** The record of one half, in bounded memory. */
export class HalfRecord {
  readonly #clock: Clock;
  readonly #beginMs: number;
  readonly #steps: RehearsalStep[] = [];
  readonly #examples: Example[] = [];
  readonly #exec: ExecResult[] = [];
  readonly #latency = { all: new LatencyHistogram(), common: new LatencyHistogram(), skewed: new LatencyHistogram() };
  readonly #totals = { requests: 0, wrong404s: 0, unavailable503s: 0, otherErrors: 0, discoveryFlaps: 0 };
  readonly #seconds: SecondSample[] = [];
  #second = newSecond();
  #brokenWatches = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beginMs = clock.nowMs();
  }

  /** Returns the time since the half began. */
  nowMs(): number {
    return this.#clock.nowMs() - this.#beginMs;
  }

  answer({ share, verdict, tookMs, text }: RecordedAnswer): void {
    const second = this.#now();
    second.requests += 1;
    this.#totals.requests += 1;
    if (verdict === 'well') {
      second.latency.add(tookMs);
      this.#latency.all.add(tookMs);
      this.#latency[share].add(tookMs);
      return;
    }
    second[COUNTED[verdict]] += 1;
    this.#totals[COUNTED[verdict]] += 1;
    this.example(verdict, text);
  }

  flap(text: string): void {
    this.#now().discoveryFlaps += 1;
    this.#totals.discoveryFlaps += 1;
    this.example('discovery-flap', text);
  }

  brokenWatch(text: string): void {
    this.#brokenWatches += 1;
    this.example('broken-watch', text);
  }

  example(kind: Example['kind'], text: string): void {
    if (this.#examples.filter((each) => each.kind === kind).length >= EXAMPLES_PER_KIND_MAX) return;
    this.#examples.push({ atMs: this.nowMs(), kind, text: text.slice(0, EXAMPLE_CHARS_MAX) });
  }

  exec(result: ExecResult): void {
    if (this.#exec.length < EXECS_MAX) this.#exec.push(result);
  }

  async step(name: string, work: () => Promise<void>, replaces?: RehearsalStep['replaces']): Promise<void> {
    const beginMs = this.nowMs();
    await work();
    this.#steps.push({ name, beginMs, endMs: this.nowMs(), ...(replaces === undefined ? {} : { replaces }) });
  }

  result(rest: { readonly proxy: boolean; readonly leftInStore: number; readonly counts: SceneCounts }): HalfResult {
    this.#now();
    const { counts, ...facts } = rest;
    return {
      ...facts,
      durationMs: this.nowMs(),
      steps: this.#steps,
      seconds: [...this.#seconds, sampleOf(this.#second)],
      findings: {
        ...this.#totals,
        ...counts,
        brokenWatches: this.#brokenWatches,
        latency: this.#latency.all.summary(),
        latencyOfCommon: this.#latency.common.summary(),
        latencyOfSkewed: this.#latency.skewed.summary(),
      },
      examples: this.#examples,
      exec: this.#exec,
    };
  }

  /** Returns the current second, after storing those before it. */
  #now(): Second {
    const index = Math.min(Math.floor(this.nowMs() / 1_000), SECONDS_MAX - 1);
    while (this.#seconds.length < index) {
      this.#seconds.push(sampleOf(this.#second));
      this.#second = newSecond();
    }
    return this.#second;
  }
}

function newSecond(): Second {
  const latency = new LatencyHistogram();
  return { latency, requests: 0, wrong404s: 0, unavailable503s: 0, otherErrors: 0, discoveryFlaps: 0 };
}

function sampleOf({ latency, ...counts }: Second): SecondSample {
  return { ...counts, p50Ms: latency.percentile(50), p99Ms: latency.percentile(99) };
}

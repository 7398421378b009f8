import type { Latency } from './rehearsal-result.js';

const GROWTH = 1.04;
const SMALLEST_MS = 0.05;
/** Up to about a minute; longer latencies are counted in the last bucket. */
const BUCKETS = Math.ceil(Math.log(60_000 / SMALLEST_MS) / Math.log(GROWTH)) + 1;

/** Latencies of requests with an error of up to 4 %, in constant memory. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  add(tookMs: number): void {
    const bucket = Math.ceil(Math.log(Math.max(tookMs, SMALLEST_MS) / SMALLEST_MS) / Math.log(GROWTH));
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#total += 1;
  }

  /** Returns undefined if the histogram is empty. */
  percentile(percent: number): number | undefined {
    if (this.#total === 0) return undefined;
    let left = Math.max(1, Math.ceil((this.#total * percent) / 100));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]!;
      if (left <= 0) return rounded(SMALLEST_MS * GROWTH ** bucket);
    }
    return undefined;
  }

  /** Returns zeros if the histogram is empty. */
  summary(): Latency {
    return { p50Ms: this.percentile(50) ?? 0, p99Ms: this.percentile(99) ?? 0 };
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

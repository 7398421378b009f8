const GROWTH = 1.04;
const SMALLEST_MS = 0.05;
/** Up to about a minute; what takes longer counts as that. */
const BUCKETS = Math.ceil(Math.log(60_000 / SMALLEST_MS) / Math.log(GROWTH)) + 1;

/** How long requests took, within 4 %, in the same memory however many there are. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(tookMs: number): void {
    const bucket = Math.ceil(Math.log(Math.max(tookMs, SMALLEST_MS) / SMALLEST_MS) / Math.log(GROWTH));
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#total += 1;
  }

  /** Undefined where nothing was added. */
  percentile(percent: number): number | undefined {
    if (this.#total === 0) return undefined;
    let left = Math.max(1, Math.ceil((this.#total * percent) / 100));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]!;
      if (left <= 0) return rounded(SMALLEST_MS * GROWTH ** bucket);
    }
    return undefined;
  }

  /** With 0 where nothing was added. */
  summary(): { readonly p50Ms: number; readonly p99Ms: number } {
    return { p50Ms: this.percentile(50) ?? 0, p99Ms: this.percentile(99) ?? 0 };
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

const BUCKETS_PER_MS = 4;
const BUCKETS_MAX = 30_000 * BUCKETS_PER_MS;

/** How long things took, in quarters of a millisecond: millions of them in little memory. */
export class Latencies {
  readonly counts: number[];

  constructor(counts: readonly number[] = []) {
    this.counts = [...counts];
  }

  add(tookMs: number): void {
    const bucket = Math.min(BUCKETS_MAX, Math.max(0, Math.floor(tookMs * BUCKETS_PER_MS)));
    while (this.counts.length <= bucket) this.counts.push(0);
    this.counts[bucket] = this.counts[bucket]! + 1;
  }

  join(others: readonly number[]): void {
    while (this.counts.length < others.length) this.counts.push(0);
    for (const [bucket, count] of others.entries()) this.counts[bucket] = this.counts[bucket]! + count;
  }

  percentileMs(percent: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    let left = (total * percent) / 100;
    for (const [bucket, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return (bucket + 1) / BUCKETS_PER_MS;
    }
    return 0;
  }
}

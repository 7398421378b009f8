import type { SecondSample } from '../rehearsal-result.js';

/** Bars thinner than this many to a plot cannot be told apart. */
const BINS_MAX = 240;
const BIN_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Several seconds drawn as one. */
export interface Bin {
  readonly beginMs: number;
  readonly endMs: number;
  readonly wrong404s: number;
  readonly unavailable503s: number;
  readonly discoveryFlaps: number;
  /** The middle one of the seconds' medians. */
  readonly p50Ms: number | undefined;
  /** The highest: a peak must not vanish because the rehearsal was long. */
  readonly p99Ms: number | undefined;
}

export function binSeconds(secondsMax: number): number {
  return BIN_SECONDS.find((each) => secondsMax / each <= BINS_MAX) ?? Math.ceil(secondsMax / BINS_MAX);
}

export function binsOf(seconds: readonly SecondSample[], size: number): Bin[] {
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, index) => {
    const own = seconds.slice(index * size, (index + 1) * size);
    const sum = (of: (second: SecondSample) => number) => own.reduce((total, second) => total + of(second), 0);
    const medians = own.flatMap(({ p50Ms }) => p50Ms ?? []).sort((left, right) => left - right);
    const peaks = own.flatMap(({ p99Ms }) => p99Ms ?? []);
    return {
      beginMs: index * size * 1_000,
      endMs: (index * size + own.length) * 1_000,
      wrong404s: sum(({ wrong404s }) => wrong404s),
      unavailable503s: sum(({ unavailable503s }) => unavailable503s),
      discoveryFlaps: sum(({ discoveryFlaps }) => discoveryFlaps),
      p50Ms: medians[Math.floor(medians.length / 2)],
      p99Ms: peaks.length === 0 ? undefined : Math.max(...peaks),
    };
  });
}

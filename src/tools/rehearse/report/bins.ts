import type { SecondSample } from '../rehearsal-result.js';

/** More bars than this in a plot are too thin to be distinguished. */
const BINS_MAX = 240;
const BIN_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Failures in several seconds. */
export type FailureCounts = Pick<SecondSample, 'wrong404s' | 'unavailable503s' | 'discoveryFlaps'>;

/** Several seconds drawn as one. */
export interface Bin extends FailureCounts {
  readonly beginMs: number;
  readonly endMs: number;
  /** The median of the medians of the seconds. */
  readonly p50Ms: number | undefined;
  /** The maximum of the seconds, so that peaks stay visible. */
  readonly p99Ms: number | undefined;
}

export function failureCounts(seconds: readonly SecondSample[]): FailureCounts {
  const sum = (of: keyof FailureCounts) => seconds.reduce((total, second) => total + second[of], 0);
  return {
    wrong404s: sum('wrong404s'),
    unavailable503s: sum('unavailable503s'),
    discoveryFlaps: sum('discoveryFlaps'),
  };
}

export function binSeconds(secondsMax: number): number {
  return BIN_SECONDS.find((each) => secondsMax / each <= BINS_MAX) ?? Math.ceil(secondsMax / BINS_MAX);
}

export function binsOf(seconds: readonly SecondSample[], size: number): Bin[] {
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, index) => {
    const drawn = seconds.slice(index * size, (index + 1) * size);
    const medians = drawn.flatMap(({ p50Ms }) => p50Ms ?? []).sort((left, right) => left - right);
    const peaks = drawn.flatMap(({ p99Ms }) => p99Ms ?? []);
    return {
      ...failureCounts(drawn),
      beginMs: index * size * 1_000,
      endMs: (index * size + drawn.length) * 1_000,
      p50Ms: medians[Math.floor(medians.length / 2)],
      p99Ms: peaks.length === 0 ? undefined : Math.max(...peaks),
    };
  });
}

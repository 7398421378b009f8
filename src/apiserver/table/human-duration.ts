const SECOND_MS = 1_000;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
const YEAR_S = 365 * DAY_S;

/** `90s`, `4m10s`, `3h`, `5d2h`: a duration as kubectl and kube-apiserver write it, coarser the longer it is. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / SECOND_MS);
  // Clocks of two machines differ: a second of future is now.
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * MINUTE_S) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * MINUTE_S) return two(seconds, [MINUTE_S, 'm'], [1, 's']);
  if (seconds < 3 * HOUR_S) return one(seconds, MINUTE_S, 'm');
  if (seconds < 8 * HOUR_S) return two(seconds, [HOUR_S, 'h'], [MINUTE_S, 'm']);
  if (seconds < 2 * DAY_S) return one(seconds, HOUR_S, 'h');
  if (seconds < 8 * DAY_S) return two(seconds, [DAY_S, 'd'], [HOUR_S, 'h']);
  if (seconds < 2 * YEAR_S) return one(seconds, DAY_S, 'd');
  if (seconds < 8 * YEAR_S) return two(seconds, [YEAR_S, 'y'], [DAY_S, 'd']);
  return one(seconds, YEAR_S, 'y');
}

/** How long ago a timestamp is; `<unknown>` when there is none. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  const atMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs);
}

function one(seconds: number, unit: number, letter: string): string {
  return `${Math.floor(seconds / unit)}${letter}`;
}

function two(seconds: number, [unit, letter]: [number, string], [rest, restLetter]: [number, string]): string {
  const remainder = Math.floor((seconds % unit) / rest);
  return one(seconds, unit, letter) + (remainder === 0 ? '' : `${remainder}${restLetter}`);
}

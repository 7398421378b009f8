const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function countText(value: number): string {
  return value.toLocaleString('en-US');
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `now`, `12 s ago`, `3 min ago`, `5 h ago`, `4 d ago`. A clock that is a little ahead is no news. */
export function agoText(ms: number): string {
  if (ms < 2 * SECOND) return ms < -5 * SECOND ? `in ${spanText(-ms)}` : 'now';
  return `${spanText(ms)} ago`;
}

/** `in 89 d`, `5 h ago`. */
export function untilText(ms: number): string {
  return ms < 0 ? `${spanText(-ms)} ago` : `in ${spanText(ms)}`;
}

/** One unit: `12 s`, `3 min`, `5 h`, `89 d`. */
export function spanText(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${countText(Math.floor(ms / DAY))} d`;
}

/** Exact: `0.4 s`, `12.3 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  const rest = seconds % 60;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min${rest === 0 ? '' : ` ${rest} s`}`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Two or three significant digits. */
export function millisecondsText(ms: number): string {
  if (ms < 10) return ms.toFixed(1);
  return countText(Math.round(ms));
}

/** `14:03:27`, in the time zone of the reader. */
export function clockText(atMs: number, timeZone?: string): string {
  return new Date(atMs).toLocaleTimeString('en-GB', { hour12: false, ...(timeZone === undefined ? {} : { timeZone }) });
}

/** RFC 3339, for titles; empty for what is no time. */
export function momentText(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/\.\d+Z$/, 'Z');
}

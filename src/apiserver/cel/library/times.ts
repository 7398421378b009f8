import { declare } from '../overload.js';
import { type CalendarTime, calendarTime } from '../time-text.js';
import type { CelDuration, CelTimestamp } from '../values.js';

const DAY_MS = 86_400_000;

const PARTS: Readonly<Record<string, (time: CalendarTime) => number>> = {
  getFullYear: ({ date }) => date.getUTCFullYear(),
  getMonth: ({ date }) => date.getUTCMonth(),
  getDate: ({ date }) => date.getUTCDate(),
  getDayOfMonth: ({ date }) => date.getUTCDate() - 1,
  getDayOfWeek: ({ date }) => date.getUTCDay(),
  getDayOfYear: ({ date }) => Math.floor((date.getTime() - startOfYearMs(date)) / DAY_MS),
  getHours: ({ date }) => date.getUTCHours(),
  getMinutes: ({ date }) => date.getUTCMinutes(),
  getSeconds: ({ date }) => date.getUTCSeconds(),
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

/** Whole units of a duration, toward zero; the milliseconds are only those of its last second's part. */
const SPANS: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / 3_600_000_000_000n,
  getMinutes: (nanos) => nanos / 60_000_000_000n,
  getSeconds: (nanos) => nanos / 1_000_000_000n,
  getMilliseconds: (nanos) => nanos / 1_000_000n,
};

export const TIMES = [
  ...Object.entries(PARTS).flatMap(([name, part]) => [
    declare(`timestamp::${name}() -> int`, (time: CelTimestamp) => part(calendarTime(time, undefined))),
    declare(`timestamp::${name}(string) -> int`, (time: CelTimestamp, zone: string) => part(calendarTime(time, zone))),
  ]),
  ...Object.entries(SPANS).map(([name, span]) =>
    declare(`duration::${name}() -> int`, ({ nanos }: CelDuration) => Number(span(nanos))),
  ),
];

function startOfYearMs(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return start.getTime();
}

import { fail } from './failure.js';
import { CelDuration, CelTimestamp, INT_MAX, INT_MIN } from './values.js';

const SECOND = 1_000_000_000n;
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};
/** From the first second of year 1 to the last of year 9999. */
export const TIMESTAMP_SECONDS_MIN = -62_135_596_800;
export const TIMESTAMP_SECONDS_END = 253_402_300_800;
const TIMESTAMP_MIN = BigInt(TIMESTAMP_SECONDS_MIN) * SECOND;
const TIMESTAMP_MAX = BigInt(TIMESTAMP_SECONDS_END) * SECOND - 1n;
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/;
/** Bound on the length of a duration, which no valid one exceeds. */
const DURATION_LENGTH_MAX = 128;

export function parseTimestamp(text: string): CelTimestamp {
  const match = TIMESTAMP.exec(text);
  const numbers = (match?.slice(1, 7) ?? []).map(Number);
  if (match === null || !isDate(numbers)) return fail(`parsing time ${JSON.stringify(text)} as RFC 3339`);
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number];
  const [fraction = '', zone = 'Z'] = match.slice(7);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const offsetMinutes = zoneMinutes(zone);
  return timestamp(BigInt(date.getTime()) * 1_000_000n + nanos - BigInt(offsetMinutes) * 60n * SECOND, offsetMinutes);
}

export function timestamp(nanos: bigint, offsetMinutes = 0): CelTimestamp {
  if (nanos < TIMESTAMP_MIN || nanos > TIMESTAMP_MAX) return fail('timestamp overflow');
  return new CelTimestamp(nanos, offsetMinutes);
}

export function duration(nanos: bigint): CelDuration {
  if (nanos < INT_MIN || nanos > INT_MAX) return fail('integer overflow');
  return new CelDuration(nanos);
}

/** `1h30m`, `-1.5s`: numbers with units, as Go writes durations. */
export function parseDuration(text: string): CelDuration {
  const bad = (why: string): never => fail(`time: ${why} ${JSON.stringify(text)}`);
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const rest = text.slice(sign.length);
  if (rest === '0') return new CelDuration(0n);
  if (rest === '' || text.length > DURATION_LENGTH_MAX || !/^(?:(?:\d+\.?\d*|\.\d+)[a-zµμ]*)+$/.test(rest)) {
    return bad('invalid duration');
  }
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)(?:\.(\d*))?([a-zµμ]*)/g)) {
    if (whole + fraction + unit === '') continue;
    const size = UNITS[unit];
    if (unit === '') return bad('missing unit in duration');
    if (size === undefined)
      return fail(`time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    total += BigInt(whole === '' ? '0' : whole) * size;
    if (fraction !== '') total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  if (total > INT_MAX) return bad('invalid duration');
  return new CelDuration(sign === '-' ? -total : total);
}

export function formatTimestamp({ nanos, offsetMinutes }: CelTimestamp): string {
  const { millis, rest } = split(nanos + BigInt(offsetMinutes) * 60n * SECOND);
  const seconds = new Date(millis)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/^\+0*/, '')
    .padStart(19, '0');
  return `${seconds}${fractionText(rest)}${zoneText(offsetMinutes)}`;
}

export function formatDuration({ nanos }: CelDuration): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / SECOND}${fractionText(size % SECOND)}s`;
}

export interface CalendarTime {
  readonly date: Date;
  readonly milliseconds: number;
}

/** The parts of a time in a zone: a name as `Europe/Paris`, or an offset as `-02:30`. */
export function calendarTime({ nanos }: CelTimestamp, zone: string | undefined): CalendarTime {
  const { millis, rest } = split(nanos);
  const milliseconds = Number(rest / 1_000_000n);
  if (zone === undefined || zone === '' || zone === 'UTC') return { date: new Date(millis), milliseconds };
  const offset = /^[+-]?\d{1,2}:\d{2}$/.test(zone) ? zoneMinutes(zone) * 60_000 : namedOffsetMs(millis, zone);
  return { date: new Date(millis + offset), milliseconds };
}

function namedOffsetMs(millis: number, zone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return fail(`unknown time zone ${zone}`);
  }
  const parts = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - Math.floor(millis / 1000) * 1000;
}

function split(nanos: bigint): { millis: number; rest: bigint } {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  return { millis: Number((nanos - rest) / 1_000_000n), rest };
}

function fractionText(nanos: bigint): string {
  return nanos === 0n ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

function zoneText(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'Z';
  const size = Math.abs(offsetMinutes);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function zoneMinutes(zone: string): number {
  if (zone === 'Z') return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone)!;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Whether year, month and day, and optionally hour, minute and second, exist. */
export function isDate([year, month, day, hour = 0, minute = 0, second = 0]: readonly number[]): boolean {
  if (month! < 1 || month! > 12 || day! < 1 || hour > 23 || minute > 59 || second > 59) return false;
  const date = new Date(0);
  date.setUTCFullYear(year!, month!, 0);
  return day! <= date.getUTCDate();
}

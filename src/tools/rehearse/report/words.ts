import type { Count, Example, RehearsalStep } from '../rehearsal-result.js';

export function countText(value: number): string {
  return value.toLocaleString('en-US');
}

/** `4 of 40`; a dash if nothing was observed. */
export function countOfText({ bad, of }: Count): string {
  return of === 0 ? '–' : `${countText(bad)} of ${countText(of)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `0:07`, `12:30`, from the start of a half. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** `48 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/** Two or three significant digits: `0.84`, `3.1`, `127`. */
export function millisecondsText(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return '–';
  const size = Math.abs(ms);
  return size < 1 ? ms.toFixed(2) : size < 10 ? ms.toFixed(1) : countText(Math.round(ms));
}

/** `2026-11-16 07:10 UTC`. */
export function momentText(rfc3339: string): string {
  const time = new Date(rfc3339);
  return Number.isNaN(time.getTime()) ? rfc3339 : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function halfName(proxy: boolean): string {
  return proxy ? 'proxy on' : 'proxy off';
}

/** Returns whether no server is replaced in a step. */
export function isQuiet({ name }: Pick<RehearsalStep, 'name'>): boolean {
  return /^(hold|settle)\b/i.test(name);
}

export const EXAMPLE_TITLES: Readonly<Record<Example['kind'], string>> = {
  'wrong-404': 'Wrong 404s',
  'collected-by-mistake': 'Objects deleted by mistake',
  'namespace-ended-early': 'Namespaces ended too early',
  'namespace-stuck': 'Namespaces stuck',
  'discovery-flap': 'Discovery flaps',
  'unavailable-503': '503s',
  'broken-watch': 'Broken watches',
  'other-error': 'Other errors',
};

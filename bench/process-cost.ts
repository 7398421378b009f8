import { readFileSync, writeFileSync } from 'node:fs';

/** Unit of times in /proc, independent of the tick of the kernel. */
const TICKS_PER_SECOND = 100;

export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** The most that was resident since `forgetPeak`, or since the process began. */
export function peakMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

export function forgetPeak(pid: number): void {
  // proc(5): 5 resets the peak resident set size to what it is now.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMb(pid: number, field: string): number {
  const [, kb] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kb === undefined) throw new Error(`process ${pid} has no ${field}`);
  return Number(kb) / 1024;
}

/** User and system time so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** A process and those it has started: the workers of a program that has several. */
export function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

import { readFileSync } from 'node:fs';

const RESIDENT_KB = /^VmRSS:\s+(\d+) kB$/m;
/** What Linux reports to every program, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

export function residentMb(pid: number): number {
  const [, kb] = RESIDENT_KB.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kb === undefined) throw new Error(`process ${pid} has no resident memory`);
  return Number(kb) / 1024;
}

/** User and system time so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

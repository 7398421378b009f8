import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const LOOKED_AT_MS = 2_000;
const BUSY_MAX = 0.1;

/** Warns if other programs use the machine before the start, because all figures would shift. */
export async function warnIfBusy(say: (line: string) => void): Promise<void> {
  const before = cpuTicks();
  await delay(LOOKED_AT_MS);
  const after = cpuTicks();
  const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
  if (busy < BUSY_MAX) return;
  say(
    `WARNING: other work keeps this machine ${(busy * 100).toFixed(0)} % busy. That takes more from a process with one ` +
      'thread than from one with many: every ratio shifts against nginx, HAProxy and Straddle.',
  );
}

/** proc_stat(5): of all processors together, time idle and time waiting for a disk are the fourth and fifth field. */
function cpuTicks(): { readonly idle: number; readonly all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { idle: fields[3]! + fields[4]!, all: fields.reduce((sum, each) => sum + each, 0) };
}

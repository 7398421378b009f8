import { openSync, readSync } from 'node:fs';

/**
 * Loaded into the server's process (`node --import`). Between `begin` and `end` an immediate runs in every turn of the
 * event loop and reads the CPU time of the main thread, so the difference of two readings is the CPU time of one turn:
 * a machine that is busy with other work does not lengthen it.
 */
export interface TurnReport {
  readonly worstMs: number;
  readonly totalMs: number;
  readonly turns: number;
}

const readCpuMs = mainThreadClock();
let running = false;
let last = 0;
let worstMs = 0;
let totalMs = 0;
let turns = 0;

function turn(): void {
  const now = readCpuMs();
  worstMs = Math.max(worstMs, now - last);
  totalMs += now - last;
  turns++;
  last = now;
  if (running) setImmediate(turn);
}

process.on('message', (message) => {
  if (message === 'begin') {
    [worstMs, totalMs, turns] = [0, 0, 0];
    last = readCpuMs();
    running = true;
    setImmediate(turn);
  } else if (message === 'end') {
    running = false;
    turn();
    const report: TurnReport = { worstMs, totalMs, turns };
    process.send?.(report);
  } else if (message === 'collect') {
    // Garbage of one request must not be paid for by the next.
    (globalThis as { gc?: () => void }).gc?.();
    process.send?.('collected');
  }
});

/** Nanoseconds on a CPU are the first number of `schedstat`. Elsewhere the whole process counts, its helper threads too. */
function mainThreadClock(): () => number {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const bytes = Buffer.alloc(128);
    const read = (): number => {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return Number(bytes.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
    };
    if (read() > 0) return read;
  } catch {
    // Not Linux, or built without it.
  }
  return () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  };
}

// A test that broke off must not leave a server behind.
process.on('disconnect', () => process.exit());

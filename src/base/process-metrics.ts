import { readdirSync, readFileSync } from 'node:fs';
import type { Metrics } from './metric-catalogue.js';

/** Exports CPU time, memory and open files of this process; a page of several processes has their sums. */
export function observeProcess({ registry, processCpuSeconds, processMemoryBytes, processFiles }: Metrics): void {
  let countedSeconds = 0;
  registry.collect(() => {
    const { user, system } = process.cpuUsage();
    const cpuSeconds = (user + system) / 1e6;
    processCpuSeconds.labels().inc(cpuSeconds - countedSeconds);
    countedSeconds = cpuSeconds;
    processMemoryBytes.labels().set(process.memoryUsage.rss());
    for (const [gauge, count] of [
      [processFiles.open, openFiles()],
      [processFiles.max, maxFiles()],
    ] as const) {
      if (count !== undefined) gauge.labels().set(count);
    }
  });
}

/** Returns the number of open file descriptors; undefined where the system has no /proc. */
function openFiles(): number | undefined {
  try {
    // One of them is that of the folder while it is read.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** Returns the limit on open file descriptors; undefined where there is none or the system has no /proc. */
function maxFiles(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

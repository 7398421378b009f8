import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metric-catalogue.js';

/** Sampling interval of the event loop. */
const RESOLUTION_MS = 20;

/**
 * Exports the longest delay of the event loop since the page was last rendered. Node.js takes the
 * samples without running JavaScript, and only after the first request for the page.
 */
export function observeEventLoopDelay({ registry, eventLoopDelaySeconds }: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  registry.collect(() => {
    delays.enable();
    // A sample is the time since the previous one, which is the resolution if there is no delay.
    const longestMs = delays.max / 1e6 - RESOLUTION_MS;
    eventLoopDelaySeconds.labels().set(Math.max(0, longestMs) / 1000);
    delays.reset();
  });
}

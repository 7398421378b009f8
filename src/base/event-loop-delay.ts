import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metric-catalogue.js';

/** How often the event loop is looked at. */
const RESOLUTION_MS = 20;

/**
 * Fills the metric of the longest wait for the event loop since the page was last rendered. Samples are taken by Node.js
 * without running any JavaScript, and only once somebody has asked for the page.
 */
export function observeEventLoopDelay({ registry, eventLoopDelaySeconds }: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  registry.collect(() => {
    delays.enable();
    // A sample is the time since the one before, which is the resolution when nothing has to wait.
    const longestMs = delays.max / 1e6 - RESOLUTION_MS;
    eventLoopDelaySeconds.labels().set(Math.max(0, longestMs) / 1000);
    delays.reset();
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { observeEventLoopDelay } from './event-loop-delay.js';
import { createMetrics } from './metric-catalogue.js';

const BUSY_MS = 300;

function busy(): void {
  const endMs = performance.now() + BUSY_MS;
  while (performance.now() < endMs);
}

function delayIn(page: string): number {
  return Number(/^straddle_event_loop_delay_seconds (\S+)$/m.exec(page)?.[1]);
}

describe('observeEventLoopDelay', () => {
  it('reports the longest time that the event loop was kept busy since the page was last read', async () => {
    const metrics = createMetrics();
    observeEventLoopDelay(metrics);
    expect(delayIn(metrics.registry.render())).toBe(0);
    // Timers of the event loop take the samples: one before the work, one after it.
    await pause(50);
    busy();
    await pause(50);
    expect(delayIn(metrics.registry.render())).toBeGreaterThan((BUSY_MS - 50) / 1000);
  });
});

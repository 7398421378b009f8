import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './metric-catalogue.js';
import { observeProcess } from './process-metrics.js';

function valueIn(page: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
}

function busy(forMs: number): void {
  const until = process.cpuUsage().user + forMs * 1000;
  while (process.cpuUsage().user < until);
}

describe('observeProcess', () => {
  it('counts CPU time once, however often the page is read', () => {
    const metrics = createMetrics();
    observeProcess(metrics);
    const cpu = () => valueIn(metrics.registry.render(), 'process_cpu_seconds_total');
    const before = cpu();
    busy(100);
    const after = cpu();
    expect(after - before).toBeGreaterThan(0.09);
    const { user, system } = process.cpuUsage();
    expect(cpu()).toBeGreaterThanOrEqual(after);
    expect(after).toBeLessThanOrEqual((user + system) / 1e6);
  });

  it('reports the resident memory', () => {
    const metrics = createMetrics();
    observeProcess(metrics);
    const bytes = valueIn(metrics.registry.render(), 'process_resident_memory_bytes');
    expect(bytes).toBeGreaterThan(10e6);
    expect(bytes).toBeLessThan(100e9);
  });

  it.runIf(process.platform === 'linux')('counts open files, below the limit of the process', () => {
    const metrics = createMetrics();
    observeProcess(metrics);
    const open = () => valueIn(metrics.registry.render(), 'process_open_fds');
    const before = open();
    const files = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    expect(open() - before).toBe(20);
    for (const file of files) closeSync(file);
    expect(valueIn(metrics.registry.render(), 'process_max_fds')).toBeGreaterThanOrEqual(before);
  });
});

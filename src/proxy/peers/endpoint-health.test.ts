import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { COOL_DOWN } from '../../http/server-health.js';
import { EndpointHealth } from './endpoint-health.js';

describe('EndpointHealth', () => {
  it('becomes usable by a successful probe only, at first and after each failure', () => {
    const health = new EndpointHealth({ clock: new ManualClock() });
    expect(health.usable()).toBe(false);
    expect(health.probeInMs()).toBe(0);
    health.probed();
    expect(health.usable()).toBe(true);
    health.failed('reset');
    health.answered();
    expect(health.usable()).toBe(false);
    expect(health.lastError).toBe('reset');
    health.probed();
    expect(health.usable()).toBe(true);
  });

  it('doubles the cool-down with each failure up to the bound, also if probes succeed in between', async () => {
    const clock = new ManualClock();
    const health = new EndpointHealth({ clock, random: () => 1 });
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) {
      health.failed('refused');
      delays.push(health.probeInMs());
      await clock.advance(health.probeInMs());
      if (i < 3) health.probed();
    }
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 4_000, 4_000]);
    health.probed();
    await clock.advance(COOL_DOWN.forgiveAfterMs);
    health.probed();
    health.failed('again');
    expect(health.probeInMs()).toBe(100);
  });

  it('counts many simultaneous failures as one', () => {
    const health = new EndpointHealth({ clock: new ManualClock(), random: () => 1 });
    health.probed();
    for (let i = 0; i < 50; i++) health.failed('reset');
    expect(health.probeInMs()).toBe(COOL_DOWN.coolDownFirstMs);
  });
});

import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { Pace } from './pace.js';

describe('Pace', () => {
  it('numbers the steps, and estimates the rest from the steps that are over', async () => {
    const clock = new ManualClock();
    const pace = new Pace({ clock, servers: 2, holdMs: 10_000, halvesToFollow: 0 });
    expect(pace.next('upgrade server-1 to 1.37')).toBe('1 of 5: upgrade server-1 to 1.37; about 1 min 20 s left');
    // Slower than expected: four steps of 30 s remain.
    await pace.during(async () => void (await clock.advance(20_000)));
    expect(pace.next('restart server-1')).toBe('2 of 5: restart server-1; about 2 min 10 s left');
  });

  it('adds the halves that follow', () => {
    const pace = new Pace({ clock: new ManualClock(), servers: 2, holdMs: 10_000, halvesToFollow: 1 });
    expect(pace.next('upgrade')).toBe('1 of 5: upgrade; about 2 min 45 s left');
  });
});

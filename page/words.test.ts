import { describe, expect, it } from 'vitest';
import { agoText, clockText, durationText, momentText, untilText } from './words.js';

describe('times in words', () => {
  it.each([
    [0, 'now'],
    [-4_000, 'now'],
    [-8_000, 'in 8 s'],
    [12_400, '12 s ago'],
    [200_000, '3 min ago'],
    [7_200_000, '2 h ago'],
    [4 * 86_400_000, '4 d ago'],
  ])('%d ms ago is "%s"', (ms, words) => {
    expect(agoText(ms)).toBe(words);
  });

  it('say when a certificate ends, also where it has ended', () => {
    expect([untilText(89.5 * 86_400_000), untilText(-3_700_000)]).toEqual(['in 89 d', '1 h ago']);
  });

  it('have exact durations', () => {
    expect([durationText(400), durationText(150_000), durationText(180_000), durationText(3_900_000)]).toEqual([
      '0.4 s',
      '2 min 30 s',
      '3 min',
      '1 h 5 min',
    ]);
  });

  it('have a clock of 24 hours', () => {
    expect(clockText(Date.UTC(2026, 0, 1, 0, 5, 9), 'UTC')).toBe('00:05:09');
  });

  it('have no moment for what is no time', () => {
    expect([momentText(Number.NaN), momentText(0)]).toEqual(['', '1970-01-01T00:00:00Z']);
  });
});

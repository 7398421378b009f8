import { describe, expect, it } from 'vitest';
import { parseGoDurationMs } from './go-duration.js';

describe('Go durations', () => {
  it.each([
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1.5s', 1_500],
    ['0', 0],
    ['0s', 0],
  ])('reads %s', (text, expectedMs) => {
    expect(parseGoDurationMs(text)).toBe(expectedMs);
  });

  it.each(['', '10', '10 m', '-5s', 'm', '5x', '1h 30m', '1d', '1e3s'])('refuses "%s"', (text) => {
    expect(parseGoDurationMs(text)).toBeUndefined();
  });
});

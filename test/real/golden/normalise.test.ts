import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.js';

describe('normalise', () => {
  it.each([4_711, 30_123, 123_456])('removes the prefix of a log line of kubectl as process %i', (pid) => {
    const line = `stderr: W1120 00:03:34.630134 ${String(pid).padStart(7)} diff.go:723] Object keeps changing`;
    expect(normalise(line)).toBe('stderr: <log> Object keeps changing');
  });

  it('replaces node ports', () => {
    expect(normalise('nodePort: 30123')).toBe('nodePort: <port>');
  });
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ClientCounts } from './client-counts.js';
import { clientName, shownUserAgent, USER_AGENT_CHARS_MAX } from './client-name.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KEPT = 200;
const HEADER_CHARS = 100_000;

/** Returns by how many bytes the heap grows while the results of a function, each of another long header, are kept. */
function heldBy<Held>(keep: (header: string, index: number) => Held): number {
  const held: Held[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < KEPT; i++) {
    held.push(keep(Buffer.alloc(HEADER_CHARS, `client-${i}/v1 `).toString('latin1'), i));
  }
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  return held.length === KEPT ? bytes : Number.NaN;
}

describe('client name', () => {
  it('is the program and the version of a user agent', () => {
    expect(clientName('kubectl/v1.36.1 (linux/amd64) kubernetes/abcdef')).toEqual({
      name: 'kubectl',
      version: 'v1.36.1',
    });
    expect(clientName('')).toEqual({ name: 'unknown', version: '' });
  });

  it('keeps all characters of the part that is shown', () => {
    expect(shownUserAgent(`k\u00fcche\ud83d\ude00/1 ${'x'.repeat(500)}`)).toHaveLength(USER_AGENT_CHARS_MAX);
    expect(shownUserAgent('k\u00fcche/1')).toBe('k\u00fcche/1');
  });

  it('does not keep a long header alive by the part that is shown', () => {
    expect(heldBy((header) => shownUserAgent(header))).toBeLessThan((KEPT * HEADER_CHARS) / 4);
  });

  it('does not keep a long header alive by the counts of its client', () => {
    const counts = new ClientCounts();
    const count = (header: string) => counts.count(header, { nowMs: 0, wouldHaveFailed: false });
    expect(heldBy(count)).toBeLessThan((KEPT * HEADER_CHARS) / 4);
    expect(counts.rows()).toHaveLength(KEPT);
  });
});

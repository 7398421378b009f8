import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { detachedText } from './detached-text.js';

describe('detachedText', () => {
  it('is the same text, of any characters', () => {
    for (const text of ['', 'kubectl/v1', 'ü\ud800', '\u0000😀']) expect(detachedText(text)).toBe(text);
  });

  it('does not keep the string in memory that the text is a part of', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapAfter = (keep: (text: string) => string): number => {
      collect();
      const before = process.memoryUsage().heapUsed;
      // Made of bytes: a repeated text would be a rope, which is flattened and shared differently.
      const kept = Array.from({ length: 40 }, (_, i) =>
        keep(Buffer.alloc(1_000_000, 97 + (i % 26)).toString('latin1')),
      );
      collect();
      const grownBy = process.memoryUsage().heapUsed - before;
      expect(kept).toHaveLength(40);
      return grownBy;
    };
    expect(heapAfter((text) => text.slice(0, 128))).toBeGreaterThan(20_000_000);
    expect(heapAfter((text) => detachedText(text.slice(0, 128)))).toBeLessThan(5_000_000);
  });
});

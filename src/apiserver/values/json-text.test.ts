import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { hasMoreValues } from './json-text.js';

function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children = Object.values(value) as Json[];
  return children.reduce((sum: number, each) => sum + 1 + valuesIn(each), 0);
}

describe('hasMoreValues', () => {
  it('counts the members and items of any JSON text exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const count = valuesIn(JSON.parse(text) as Json);
        // Padding: short texts are not looked at.
        const padded = `${text}${' '.repeat(2 * count + 2)}`;
        expect(hasMoreValues(padded, count)).toBe(false);
        if (count > 0) expect(hasMoreValues(padded, count - 1)).toBe(true);
      }),
    );
  });

  it('ignores brackets and commas in strings with any escapes', () => {
    expect(hasMoreValues(JSON.stringify(['[,{"\\', '\\",,,', ',"']).padEnd(100), 3)).toBe(false);
  });

  it('accepts text that is not JSON', () => {
    expect(hasMoreValues('"'.padEnd(100, ','), 1)).toBe(false);
    expect(hasMoreValues('['.repeat(100), 10)).toBe(true);
  });
});

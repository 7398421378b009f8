import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { camelCase } from './flag.js';
import { ALL_FLAGS, FLAG_SPELLINGS, flagForKey } from './flags.js';
import { flagsReference } from './flags-reference.js';

describe('the table of flags', () => {
  it('is equal to the committed reference page', async () => {
    const page = fileURLToPath(new URL('../../../docs/reference/flags.md', import.meta.url));
    await expect(flagsReference()).toMatchFileSnapshot(page);
  });

  it('has every spelling once, with dashes and in camelCase', () => {
    expect(new Set(FLAG_SPELLINGS).size).toBe(FLAG_SPELLINGS.length);
    for (const flag of ALL_FLAGS) {
      expect(flagForKey(flag.name)).toBe(flag);
      expect(flagForKey(camelCase(flag.name))).toBe(flag);
    }
  });
});

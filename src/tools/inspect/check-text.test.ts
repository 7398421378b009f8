import { describe, expect, it } from 'vitest';
import { problemsText } from './check-text.js';

describe('the problems of straddle check', () => {
  it('are none where all checks are ok, with the number of these', () => {
    const text = problemsText(39)({ verdict: 'ok', checks: [], notes: ['not allowed to list pods'] }, false);
    expect(text).toBe('no problems: 39 checks ok\nNote: not allowed to list pods.\n');
  });
});

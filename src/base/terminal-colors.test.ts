import { describe, expect, it } from 'vitest';
import { inTone, NO_COLORS, terminalColors } from './terminal-colors.js';

const isColored = (isTerminal: boolean, environment: Record<string, string>): boolean =>
  terminalColors({ isTerminal, environment }).red('x') !== 'x';

describe('terminal colors', () => {
  it('are for terminals, not for pipes and files', () => {
    expect(isColored(true, { TERM: 'xterm' })).toBe(true);
    expect(isColored(false, { TERM: 'xterm' })).toBe(false);
    expect(isColored(true, { TERM: 'dumb' })).toBe(false);
  });

  it('are never there with NO_COLOR, unless it is empty', () => {
    expect(isColored(true, { NO_COLOR: '1' })).toBe(false);
    expect(isColored(true, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false);
    expect(isColored(true, { NO_COLOR: '' })).toBe(true);
  });

  it('are there in a pipe only with FORCE_COLOR', () => {
    expect(isColored(false, { FORCE_COLOR: '1' })).toBe(true);
    expect(isColored(false, { FORCE_COLOR: '' })).toBe(false);
    expect(isColored(true, { FORCE_COLOR: '0' })).toBe(false);
    expect(isColored(true, { FORCE_COLOR: 'false' })).toBe(false);
  });

  it('have one color for each tone, and none for plain text', () => {
    const colors = terminalColors({ isTerminal: true, environment: {} });
    const tones = (['good', 'doubt', 'harm', 'quiet', 'head'] as const).map((tone) => inTone(tone, 'x', colors));
    expect(new Set(tones).size).toBe(5);
    expect(inTone('plain', 'x', colors)).toBe('x');
    expect(inTone('harm', 'x', NO_COLORS)).toBe('x');
  });
});

import { describe, expect, it } from 'vitest';
import { NO_COLORS, terminalColors } from '../../base/terminal-colors.js';
import { columns, heads } from './columns.js';

const at = (width: number) => ({ colors: NO_COLORS, width });

describe('columns', () => {
  const rows = [
    heads(['NAME', 'UPTIME', 'FOUND']),
    ['a', '-', 'a sentence that is much longer than the room that is left'],
    ['bb', '-', ''],
  ];

  it('are as wide as their widest cell, without blanks at the ends of lines', () => {
    expect(columns(rows)).toBe(
      'NAME   UPTIME   FOUND\na      -        a sentence that is much longer than the room that is left\nbb     -\n',
    );
  });

  it('break the last cell at words on a terminal, and leave out what nobody knows', () => {
    expect(columns(rows, at(34))).toBe(
      'NAME  FOUND\na     a sentence that is much\n      longer than the room that is\n      left\nbb\n',
    );
  });

  it('have narrower gaps on a terminal that is a little too narrow', () => {
    const status = [heads(['NAME', 'UPTIME', 'LEASE']), ['a', '-', '7s']];
    expect(columns(status, at(20))).toBe('NAME  UPTIME  LEASE\na     -       7s\n');
  });

  it('are aligned whatever the colors', () => {
    const colors = terminalColors({ isTerminal: true, environment: {} });
    const colored = columns([heads(['A', 'B']), [{ text: 'FAIL', tone: 'harm' }, 'x']], { colors });
    expect(colored).toBe('\x1b[1mA\x1b[22m      \x1b[1mB\x1b[22m\n\x1b[31mFAIL\x1b[39m   x\n');
  });

  it('show no line breaks and no terminal sequences of a cell', () => {
    expect(columns([['a\nb\x1b[2J', '\tc']])).toBe('a b    c\n');
  });
});

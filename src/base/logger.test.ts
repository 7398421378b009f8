import { describe, expect, it } from 'vitest';
import { createLogger, type LogLevel } from './logger.js';

function logging(level: LogLevel, format: 'json' | 'text') {
  const lines: string[] = [];
  const nowMs = () => Date.UTC(2030, 0, 2, 3, 4, 5, 678);
  return { lines, logger: createLogger({ level, format, write: (line) => lines.push(line), nowMs }) };
}

describe('a logger', () => {
  it('writes one JSON object a line, whatever is in the fields', () => {
    const { lines, logger } = logging('info', 'json');
    logger.info('two\nlines', { peer: 'b', error: new Error('no\nway'), nothing: undefined });
    expect(lines).toHaveLength(1);
    expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1);
    expect(JSON.parse(lines[0]!)).toEqual({
      time: '2030-01-02T03:04:05.678Z',
      level: 'info',
      msg: 'two\nlines',
      peer: 'b',
      error: 'no\nway',
    });
  });

  it('writes one line of text, and escapes line feeds in values', () => {
    const { lines, logger } = logging('info', 'text');
    logger.warn('peer is gone', { peer: 'b', why: 'a\nb', count: 3, nothing: undefined });
    expect(lines[0]).toBe('03:04:05.678 WARN  peer is gone peer=b why="a\\nb" count=3 nothing=undefined\n');
  });

  it('writes nothing below its level', () => {
    const { lines, logger } = logging('warn', 'json');
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines).toHaveLength(2);
  });

  it('writes bound fields on every line, where fields of the line override them', () => {
    const { lines, logger } = logging('info', 'json');
    logger.with({ peer: 'a', kind: 'x' }).with({ kind: 'y' }).info('m', { peer: 'b' });
    expect(JSON.parse(lines[0]!)).toMatchObject({ peer: 'b', kind: 'y' });
  });

  it('does not throw for fields that JSON cannot represent', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const format of ['json', 'text'] as const) {
      const { lines, logger } = logging('info', format);
      expect(() => logger.info('odd', { circular, big: 10n })).not.toThrow();
      expect(lines).toHaveLength(1);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_EVENTS } from './watch-json-events.js';

describe('JSON_EVENTS', () => {
  it('finds the resourceVersion past strings, escapes and objects that look like it', () => {
    const line = `${JSON.stringify({
      type: 'MODIFIED',
      object: {
        data: {
          metadata: { resourceVersion: 'no' },
          text: '{"resourceVersion":"no"}\\"',
          list: [1, { a: '}' }],
          yes: true,
        },
        metadata: { annotations: { x: '\\', y: '"resourceVersion":"no"' }, resourceVersion: '12' },
      },
    })}\n`;
    expect(JSON_EVENTS.skim(Buffer.from(line))).toEqual({ type: 'MODIFIED', resourceVersion: '12' });
  });

  it('finds the resourceVersion of a Table in its row if the Table has none', () => {
    const row = { cells: ['a'], object: { metadata: { resourceVersion: '8' } } };
    const line = JSON.stringify({ type: 'ADDED', object: { kind: 'Table', metadata: {}, rows: [row] } });
    expect(JSON_EVENTS.skim(Buffer.from(line))).toEqual({ type: 'ADDED', resourceVersion: '8' });
  });

  it.each(['', '{', '}', '"type":"ADDED"', '[1]', '{"type":"ADDED', '{"type":1}', '{"kind":"x"}', '{"type" "ADDED"}'])(
    'returns malformed for %j',
    (line) => {
      expect(JSON_EVENTS.skim(Buffer.from(`${line}\n`))).toBe('malformed');
    },
  );

  it('reads any JSON like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (before, after, version) => {
        const value = {
          before,
          type: 'ADDED',
          object: { x: before, metadata: { y: after, resourceVersion: version }, after },
        };
        const expected = { type: 'ADDED', resourceVersion: version === '' ? undefined : version };
        expect(JSON_EVENTS.skim(Buffer.from(`${JSON.stringify(value)}\n`))).toEqual(expected);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { filterHeaders, headerValue, headerValues, hopByHopNames } from './headers.js';

const HEADERS = ['Content-Type', 'a', 'WARNING', '1', 'warning', '2', 'Content-Typ', 'b'];

describe('raw headers', () => {
  it('are found by name whatever their spelling, the first one or all in order', () => {
    expect(headerValue(HEADERS, 'content-type')).toBe('a');
    expect(headerValue(HEADERS, 'warning')).toBe('1');
    expect(headerValues(HEADERS, 'warning')).toEqual(['1', '2']);
    expect(headerValue(HEADERS, 'content')).toBeUndefined();
    expect(headerValues(HEADERS, 'nothing')).toEqual([]);
  });

  it('are filtered without a change of spelling or order', () => {
    expect(filterHeaders(HEADERS, (name) => name === 'warning')).toEqual(['WARNING', '1', 'warning', '2']);
  });

  it('are not found by a value that is equal to the name', () => {
    expect(headerValue(['a', 'host', 'host', 'x'], 'host')).toBe('x');
  });
});

describe('hopByHopNames', () => {
  it.each(['connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'])(
    'always contains %s',
    (name) => expect(hopByHopNames([]).has(name)).toBe(true),
  );

  it('contains the names in all Connection fields, in any spelling', () => {
    const names = hopByHopNames(['CONNECTION', 'close, X-One ,', 'Connection', 'x-TWO']);
    expect(names.has('x-one')).toBe(true);
    expect(names.has('x-two')).toBe(true);
    expect(names.has('close')).toBe(false);
    expect(names.has('')).toBe(false);
  });

  it('returns one shared set if Connection names no fields, and never changes it', () => {
    const shared = hopByHopNames(['Connection', 'keep-alive']);
    expect(hopByHopNames(['Connection', 'close'])).toBe(shared);
    hopByHopNames(['Connection', 'x-one']);
    expect(shared.has('x-one')).toBe(false);
  });
});

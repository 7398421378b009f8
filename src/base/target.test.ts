import { describe, expect, it } from 'vitest';
import { rawPath, rawQuery } from './target.js';

describe('a request target', () => {
  it.each([
    ['/a', '/a', ''],
    ['/a?', '/a', ''],
    ['/a?b=c', '/a', 'b=c'],
    ['/a%3Fb?c', '/a%3Fb', 'c'],
    ['/a?b=c?d&e', '/a', 'b=c?d&e'],
    ['?b', '', 'b'],
  ])('%j has the path %j and the query %j', (target, path, query) => {
    expect(rawPath(target)).toBe(path);
    expect(rawQuery(target)).toBe(query);
  });
});

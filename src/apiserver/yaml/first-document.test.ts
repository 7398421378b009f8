import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { firstDocument } from './first-document.js';

const first = (text: string): unknown => loadAll(firstDocument(text))[0] ?? null;

describe('firstDocument', () => {
  it.each([
    ['a: 1', { a: 1 }],
    ['a: 1\n---\nb: 2\n', { a: 1 }],
    ['---\na: 1\n---\nb: 2\n', { a: 1 }],
    ['--- {a: 1}\n--- {b: 2}\n', { a: 1 }],
    ['# a comment\n\n---\na: 1\n...\nb: 2\n', { a: 1 }],
    ['%YAML 1.2\n---\na: 1\n---\n', { a: 1 }],
    ['a: 1\r\n---\r\nb: 2\r\n', { a: 1 }],
    ['---\n---\na: 1\n', null],
    ['a: |\n  ---\n  text\n', { a: '---\ntext\n' }],
    ['a: ---b\n', { a: '---b' }],
    ['', null],
  ])('of %j is %j', (text, expected) => {
    expect(first(text)).toEqual(expected);
  });

  it('ends before later documents, even if those are not YAML', () => {
    expect(firstDocument('a: 1\n---\n[[[')).toBe('a: 1\n');
  });
});

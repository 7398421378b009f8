import { describe, expect, it } from 'vitest';
import { readServerVersion, VERSION_DOCUMENT_BYTES_MAX } from './server-version.js';

describe('readServerVersion', () => {
  it('returns the version and the document as it was written', () => {
    const document = '{\n  "major": "1",\n  "gitVersion": "v1.36.4+k3s1"\n}';
    expect(readServerVersion(Buffer.from(document))).toEqual({ gitVersion: 'v1.36.4+k3s1', document });
  });

  it.each([
    ['text', 'v1.36.4'],
    ['null', 'null'],
    ['a list', '["gitVersion"]'],
    ['a document without a version', '{}'],
    ['a version that is no word', '{"gitVersion":"v1 .36"}'],
    ['a version that is too long', JSON.stringify({ gitVersion: 'v'.repeat(65) })],
    ['a document that is too long', JSON.stringify({ gitVersion: 'v1', x: 'x'.repeat(VERSION_DOCUMENT_BYTES_MAX) })],
  ])('returns undefined for %s', (_, text) => {
    expect(readServerVersion(Buffer.from(text))).toBeUndefined();
  });
});

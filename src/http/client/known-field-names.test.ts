import { expect, it } from 'vitest';
import { FieldKind, knownName } from './known-field-names.js';

it.each([
  ['Content-Length', FieldKind.contentLength],
  ['content-LENGTH', FieldKind.contentLength],
  ['Transfer-Encoding', FieldKind.transferEncoding],
  ['Proxy-Authenticate', FieldKind.hopByHop],
  ['Trailer', FieldKind.ordinary],
  ['X-Content-Length', FieldKind.ordinary],
  ['', FieldKind.invalid],
  ['A b', FieldKind.invalid],
  ['A\u010a', FieldKind.invalid],
  ['\xe4', FieldKind.invalid],
  ['__proto__', FieldKind.ordinary],
])('knownName(%j) returns kind %i, uncached and cached', (name, kind) => {
  expect(knownName(name).kind).toBe(kind);
  expect(knownName(name).kind).toBe(kind);
});

it('knownName returns the right kind after its cache was cleared', () => {
  for (let i = 0; i < 5_000; i++) expect(knownName(`X-${i}`).kind).toBe(FieldKind.ordinary);
  expect(knownName('X'.repeat(10_000)).kind).toBe(FieldKind.ordinary);
  expect(knownName('Connection').kind).toBe(FieldKind.connection);
});

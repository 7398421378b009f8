import { expect, it } from 'vitest';
import { FieldKind, fieldKind } from './field-names.js';

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
])('tells what %j means, the first time and after', (name, kind) => {
  expect(fieldKind(name)).toBe(kind);
  expect(fieldKind(name)).toBe(kind);
});

it('is not led astray by however many names', () => {
  for (let i = 0; i < 5_000; i++) expect(fieldKind(`X-${i}`)).toBe(FieldKind.ordinary);
  expect(fieldKind('X'.repeat(10_000))).toBe(FieldKind.ordinary);
  expect(fieldKind('Connection')).toBe(FieldKind.connection);
});

import { describe, expect, it } from 'vitest';
import { goDecodeProblem } from './go-decode.js';
import type { Schema } from './schema.js';

const SCHEMA: Schema = {
  typeName: 'io.example.v1.Thing',
  type: 'object',
  properties: {
    bytes: { type: 'string', format: 'byte' },
    amount: { type: 'string', format: 'quantity' },
    port: { format: 'int-or-string' },
    time: { typeName: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time', type: 'string', format: 'date-time' },
    exact: { typeName: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', type: 'string', format: 'date-time' },
    count: { type: 'integer', format: 'int32' },
  },
};

describe('goDecodeProblem', () => {
  it.each([
    [{ bytes: '!' }, 'illegal base64 data at input byte 0'],
    [{ bytes: 'AAAA!' }, 'illegal base64 data at input byte 4'],
    [{ bytes: 'AAA' }, 'illegal base64 data at input byte 0'],
    [{ amount: 'lots' }, /^quantities must match the regular expression/],
    [{ port: {} }, 'json: cannot unmarshal object into Go struct field Thing.port of type int32'],
    [{ time: 'soon' }, 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'],
    [{ exact: 'soon' }, /as "2006-01-02T15:04:05\.000000Z07:00"/],
    [{ count: 2 ** 31 }, 'json: cannot unmarshal number 2147483648 into Go struct field Thing.count of type int32'],
    [{ count: '1' }, 'json: cannot unmarshal string into Go struct field Thing.count of type int32'],
  ])('returns the error of Go for %j', (object, problem) => {
    expect(goDecodeProblem(object, SCHEMA)).toEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
  });

  it.each([
    { bytes: 'AAECAw==' },
    { bytes: 'AAEC\nAw==\n' },
    { bytes: '' },
    { amount: '1.5Gi' },
    { amount: 2 },
    { port: 'http' },
    { port: 80 },
    { time: '2026-01-02T03:04:05Z' },
    { time: '2026-01-02T03:04:05+01:00' },
    { exact: '2026-01-02T03:04:05.123456Z' },
    { time: null },
    { count: 5 },
  ])('returns undefined for %j', (object) => {
    expect(goDecodeProblem(object, SCHEMA)).toBeUndefined();
  });
});

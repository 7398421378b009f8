import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { status } from './status.js';
import { readStatus } from './status-decoding.js';
import { encodeStatus } from './status-encoding.js';

const NOT_FOUND = { message: '404 page not found', reason: 'NotFound', code: 404, hasDetails: false };

/** `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":…,"reason":…,"code":404}`, of byte strings. */
const CBOR = Buffer.from(
  'd9d9f7a7446b696e64465374617475734a61706956657273696f6e427631486d65746164617461a046737461747573474661696c757265' +
    '476d657373616765523430342070616765206e6f7420666f756e6446726561736f6e484e6f74466f756e6444636f6465190194',
  'hex',
);

const YAML = `apiVersion: v1
code: 404
kind: Status
message: 404 page not found
metadata: {}
reason: NotFound
status: Failure
`;

const INVALID_YAML = `apiVersion: v1
code: 422
details:
  causes:
  - field: resourceVersionMatch
    message: 'Unsupported value: "Newest": supported values: "Exact", "NotOlderThan",
      ""'
    reason: FieldValueNotSupported
  group: meta.k8s.io
  kind: ListOptions
kind: Status
message: 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported
  value: "Newest": supported values: "Exact", "NotOlderThan", ""'
metadata: {}
reason: Invalid
status: Failure
`;

describe('readStatus', () => {
  it.each(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])(
    'reads a Status in %s as Straddle writes it',
    (accept) => {
      const plain = encodeStatus(status('NotFound', '404 page not found'), accept).bytes;
      expect(readStatus(Buffer.from(plain))).toEqual(NOT_FOUND);
      const detailed = encodeStatus(
        status('NotFound', 'pods "p" not found', { name: 'p', kind: 'pods' }),
        accept,
      ).bytes;
      expect(readStatus(Buffer.from(detailed))).toMatchObject({ code: 404, hasDetails: true });
    },
  );

  it('reads a Status in CBOR and in YAML as kube-apiserver writes it', () => {
    expect(readStatus(CBOR)).toEqual(NOT_FOUND);
    expect(readStatus(Buffer.from(YAML))).toEqual(NOT_FOUND);
  });

  it('reads quoted scalars of YAML', () => {
    const quoted = YAML.replace('404 page not found', "'it''s: quoted'").replace('NotFound', '"a\\tb"');
    expect(readStatus(Buffer.from(quoted))).toMatchObject({ message: "it's: quoted", reason: 'a\tb' });
  });

  it('reads a Status in YAML with details and a folded message as kube-apiserver 1.36.4 writes it', () => {
    expect(readStatus(Buffer.from(INVALID_YAML))).toEqual({
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
      reason: 'Invalid',
      code: 422,
      hasDetails: true,
    });
  });

  it.each([
    ['an indented first line', ` a: b\n${YAML}`],
    ['a list at the top level', `${YAML}- a\n`],
    ['another kind', YAML.replace('Status', 'Pod')],
    ['a success', YAML.replace('Failure', 'Success')],
    [
      'a line with nothing but space',
      `${YAML}a: ${' '.repeat(4_000)}\r\u2028${' '.repeat(60)}:`.replace('Failure', ''),
    ],
    ['JSON that is cut off', '{"kind":"Status"'],
    ['a list', '[]'],
    ['text', '404 page not found\n'],
    ['nothing', ''],
  ])('returns undefined for %s', (_, text) => {
    expect(readStatus(Buffer.from(text))).toBeUndefined();
  });

  it('returns undefined for a Status that is cut off anywhere', () => {
    const protobuf = encodeStatus(status('NotFound', 'x'), 'application/vnd.kubernetes.protobuf').bytes;
    // The last two fields of an envelope are empty and may be missing.
    for (const [whole, until] of [
      [CBOR, CBOR.length],
      [Buffer.from(protobuf), protobuf.length - 4],
    ] as const) {
      for (let cut = 0; cut < until; cut++) expect(readStatus(whole.subarray(0, cut))).toBeUndefined();
    }
  });

  it('returns undefined and never throws for random bytes', () => {
    const magic = fc.constantFrom(
      Buffer.alloc(0),
      Buffer.from('6b387300', 'hex'),
      CBOR.subarray(0, 10),
      Buffer.from('{'),
    );
    fc.assert(
      fc.property(magic, fc.uint8Array({ maxLength: 60 }), (head, rest) => {
        expect(readStatus(Buffer.concat([head, rest]))).toBeUndefined();
      }),
    );
  });
});

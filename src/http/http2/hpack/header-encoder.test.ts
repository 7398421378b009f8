import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeaderDecoder } from './header-decoder.js';
import { encodedBytesMax, encodeResponse, encodeTrailers } from './header-encoder.js';

function encoded(status: number, fields: readonly string[]): Buffer {
  const into = Buffer.alloc(encodedBytesMax(status, fields));
  return into.subarray(0, encodeResponse(into, 0, status, fields));
}

function decoded(block: Buffer): string[] {
  return new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e9, fieldsMax: 1e9 }).decode(block).fields;
}

function sent(...fields: string[]): string[] {
  return decoded(encoded(200, fields)).slice(2);
}

describe('encodeResponse', () => {
  it('writes the octets that RFC 7541 defines', () => {
    expect(encoded(200, ['Content-Type', 'a/b']).toString('hex')).toBe('880f1003612f62');
    expect(encoded(201, []).toString('hex')).toBe('0803323031');
    expect(encoded(404, ['X-A', '']).toString('hex')).toBe('8d0003782d6100');
    expect(encoded(200, ['set-cookie', 'a']).toString('hex')).toBe('881f280161');
  });

  it('encodes every status from 100 to 999 and throws RangeError for others', () => {
    for (let status = 100; status <= 999; status++) {
      expect(decoded(encoded(status, []))).toEqual([':status', `${status}`]);
    }
    for (const wrong of [0, 99, 1000, 200.5, Number.NaN]) expect(() => encoded(wrong, [])).toThrow(RangeError);
  });

  it('writes only between the offset given and the offset returned', () => {
    const into = Buffer.alloc(100, 0xee);
    const end = encodeResponse(into, 10, 200, ['etag', 'x']);
    expect([...into.subarray(0, 10)]).toEqual(new Array(10).fill(0xee));
    expect(decoded(into.subarray(10, end))).toEqual([':status', '200', 'etag', 'x']);
    expect([...into.subarray(end)]).toEqual(new Array(100 - end).fill(0xee));
  });

  it('adds no entry to the dynamic table of the client', () => {
    const reader = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e9, fieldsMax: 1e9 });
    reader.decode(encoded(302, ['content-type', 'x', 'x-any', 'y', 'set-cookie', 'z']));
    expect(() => reader.decode(Buffer.of(0xbe))).toThrow('beyond the dynamic table');
  });

  it('lower-cases names and keeps their order', () => {
    expect(sent('Warning', 'one', 'X-Kubernetes-PF-FlowSchema-UID', 'id', 'WARNING', 'two')).toEqual([
      ...['warning', 'one', 'x-kubernetes-pf-flowschema-uid', 'id', 'warning', 'two'],
    ]);
  });

  it('leaves out connection-specific fields', () => {
    const names = ['Connection', 'keep-alive', 'Proxy-Connection', 'Transfer-Encoding', 'UPGRADE'];
    expect(sent(...names.flatMap((name) => [name, 'x']), 'vary', 'x')).toEqual(['vary', 'x']);
  });

  it('sends only the first of repeated single-valued fields, and all others', () => {
    expect(sent('Content-Type', 'a', 'vary', 'b', 'content-type', 'c', 'vary', 'd', 'ETag', 'e')).toEqual([
      ...['content-type', 'a', 'vary', 'b', 'vary', 'd', 'etag', 'e'],
    ]);
    // The last single-valued field has the highest bit.
    expect(sent('x-content-type-options', 'a', 'X-Content-Type-Options', 'b', 'age', '1')).toEqual([
      ...['x-content-type-options', 'a', 'age', '1'],
    ]);
  });

  it('encodes secrets as never indexed', () => {
    const firstOctet = (name: string) => encoded(200, [name, 'x'])[1]! & 0xf0;
    for (const name of ['Set-Cookie', 'authorization', 'proxy-authorization', 'cookie', 'authentication-info']) {
      expect(firstOctet(name), name).toBe(0x10);
    }
    for (const name of ['content-type', 'x-other']) expect(firstOctet(name), name).toBe(0);
  });

  it('trims spaces and tabs around values', () => {
    expect(sent('a', ' \tx y\t ', 'b', '   ', 'c', '\u00a0', 'd', ` ${'x'.repeat(200)}\t`)).toEqual([
      ...['a', 'x y', 'b', '', 'c', '\u00a0', 'd', 'x'.repeat(200)],
    ]);
  });

  it('throws for NUL, CR, LF and characters above latin1 in a value', () => {
    for (const wrong of ['\r', '\n', '\0', '\u010a', '\u{1f600}', '\uffff']) {
      for (const around of ['', 'x', 'x'.repeat(100)]) {
        expect(() => encoded(200, ['a', `${around}${wrong}${around}`]), JSON.stringify(wrong)).toThrow(
          'invalid character in a header field value',
        );
      }
    }
    expect(sent('a', 'tab\there', 'b', '\u00ff'.repeat(99))).toEqual(['a', 'tab\there', 'b', '\u00ff'.repeat(99)]);
  });

  it('throws for a name that is not a token', () => {
    // toLowerCase() turns the Kelvin sign (U+212A) into an ASCII k.
    for (const wrong of ['', ':status', 'a b', 'a\r', 'a\n', 'a\0', 'a:', 'ä', '\u212a', 'a"', 'x,y']) {
      for (let again = 0; again < 2; again++) {
        expect(() => encoded(200, [wrong, 'x']), JSON.stringify(wrong)).toThrow('header field name');
      }
    }
  });

  it('throws RangeError if the buffer is too small', () => {
    const fields = ['content-type', 'application/json', 'x-long', 'x'.repeat(300)];
    const whole = encoded(200, fields).length;
    for (let bytes = 0; bytes < whole; bytes++) {
      expect(() => encodeResponse(Buffer.alloc(bytes), 0, 200, fields), `${bytes}`).toThrow(RangeError);
    }
    expect(encodeResponse(Buffer.alloc(whole), 0, 200, fields)).toBe(whole);
  });

  it('fits into encodedBytesMax and decodes to the same fields, for random fields', () => {
    const name = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,200}$/).filter((made) => sentAsIs.test(`x${made}`));
    const value = fc
      .oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 16_000, maxLength: 17_000 }))
      .map((bytes) =>
        Buffer.from(bytes)
          .toString('latin1')
          .replaceAll(/[\0\r\n\t ]/g, 'x'),
      );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 10 }), (pairs) => {
        const fields = pairs.flatMap(([made, any]) => [`x${made}`, any]);
        expect(decoded(encoded(299, fields))).toEqual([':status', '299', ...fields]);
      }),
      // Shrinking a failing list of such long values takes many minutes.
      { numRuns: 200, endOnFailure: true },
    );
  });

  it('writes the same block after the cache of names was cleared', () => {
    const before = encoded(200, ['content-type', 'x', 'X-Some', 'y']);
    for (let i = 0; i < 5000; i++) encoded(200, [`x-invented-${i}`, 'y']);
    expect(encoded(200, ['content-type', 'x', 'X-Some', 'y'])).toEqual(before);
  });
});

const sentAsIs = /^(?!x-content-type-options$)/;

describe('encodeTrailers', () => {
  it('writes no status', () => {
    const into = Buffer.alloc(100);
    const end = encodeTrailers(into, 3, ['Grpc-Status', '0', 'transfer-encoding', 'chunked']);
    expect(decoded(into.subarray(3, end))).toEqual(['grpc-status', '0']);
  });
});

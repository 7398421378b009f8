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

describe('the block of an answer', () => {
  it('is the octets RFC 7541 has for it', () => {
    expect(encoded(200, ['Content-Type', 'a/b']).toString('hex')).toBe('880f1003612f62');
    expect(encoded(201, []).toString('hex')).toBe('0803323031');
    expect(encoded(404, ['X-A', '']).toString('hex')).toBe('8d0003782d6100');
    expect(encoded(200, ['set-cookie', 'a']).toString('hex')).toBe('881f280161');
  });

  it('carries every status', () => {
    for (let status = 100; status <= 999; status++) {
      expect(decoded(encoded(status, []))).toEqual([':status', `${status}`]);
    }
    for (const wrong of [0, 99, 1000, 200.5, Number.NaN]) expect(() => encoded(wrong, [])).toThrow(RangeError);
  });

  it('leaves alone what stands before it and tells where it ends', () => {
    const into = Buffer.alloc(100, 0xee);
    const end = encodeResponse(into, 10, 200, ['etag', 'x']);
    expect([...into.subarray(0, 10)]).toEqual(new Array(10).fill(0xee));
    expect(decoded(into.subarray(10, end))).toEqual([':status', '200', 'etag', 'x']);
    expect([...into.subarray(end)]).toEqual(new Array(100 - end).fill(0xee));
  });

  it('changes nothing in the table of whoever reads it', () => {
    const reader = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e9, fieldsMax: 1e9 });
    reader.decode(encoded(302, ['content-type', 'x', 'x-any', 'y', 'set-cookie', 'z']));
    expect(() => reader.decode(Buffer.of(0xbe))).toThrow('beyond the table');
  });

  it('has names in lower case, in the order given', () => {
    expect(sent('Warning', 'one', 'X-Kubernetes-PF-FlowSchema-UID', 'id', 'WARNING', 'two')).toEqual([
      ...['warning', 'one', 'x-kubernetes-pf-flowschema-uid', 'id', 'warning', 'two'],
    ]);
  });

  it('has nothing that speaks of an HTTP/1.1 connection', () => {
    const names = ['Connection', 'keep-alive', 'Proxy-Connection', 'Transfer-Encoding', 'UPGRADE'];
    expect(sent(...names.flatMap((name) => [name, 'x']), 'vary', 'x')).toEqual(['vary', 'x']);
  });

  it('has the first of a field that may stand once, and all of others', () => {
    expect(sent('Content-Type', 'a', 'vary', 'b', 'content-type', 'c', 'vary', 'd', 'ETag', 'e')).toEqual([
      ...['content-type', 'a', 'vary', 'b', 'vary', 'd', 'etag', 'e'],
    ]);
    // The last of the list has the highest bit.
    expect(sent('x-content-type-options', 'a', 'X-Content-Type-Options', 'b', 'age', '1')).toEqual([
      ...['x-content-type-options', 'a', 'age', '1'],
    ]);
  });

  it('marks secrets as never to be indexed by anybody', () => {
    const firstOctet = (name: string) => encoded(200, [name, 'x'])[1]! & 0xf0;
    for (const name of ['Set-Cookie', 'authorization', 'proxy-authorization', 'cookie', 'authentication-info']) {
      expect(firstOctet(name), name).toBe(0x10);
    }
    for (const name of ['content-type', 'x-other']) expect(firstOctet(name), name).toBe(0);
  });

  it('trims values, which may not begin or end with a space', () => {
    expect(sent('a', ' \tx y\t ', 'b', '   ', 'c', '\u00a0', 'd', ` ${'x'.repeat(200)}\t`)).toEqual([
      ...['a', 'x y', 'b', '', 'c', '\u00a0', 'd', 'x'.repeat(200)],
    ]);
  });

  it('is refused where a value could be taken for more than a value', () => {
    for (const wrong of ['\r', '\n', '\0', '\u010a', '\u{1f600}', '\uffff']) {
      for (const around of ['', 'x', 'x'.repeat(100)]) {
        expect(() => encoded(200, ['a', `${around}${wrong}${around}`]), JSON.stringify(wrong)).toThrow(
          'no value may have',
        );
      }
    }
    expect(sent('a', 'tab\there', 'b', '\u00ff'.repeat(99))).toEqual(['a', 'tab\there', 'b', '\u00ff'.repeat(99)]);
  });

  it('is refused where a name is not a token', () => {
    // The Kelvin sign is a plain k in lower case.
    for (const wrong of ['', ':status', 'a b', 'a\r', 'a\n', 'a\0', 'a:', 'ä', '\u212a', 'a"', 'x,y']) {
      for (let again = 0; again < 2; again++) {
        expect(() => encoded(200, [wrong, 'x']), JSON.stringify(wrong)).toThrow('no name may have');
      }
    }
  });

  it('is refused where there is no room', () => {
    const fields = ['content-type', 'application/json', 'x-long', 'x'.repeat(300)];
    const whole = encoded(200, fields).length;
    for (let bytes = 0; bytes < whole; bytes++) {
      expect(() => encodeResponse(Buffer.alloc(bytes), 0, 200, fields), `${bytes}`).toThrow(RangeError);
    }
    expect(encodeResponse(Buffer.alloc(whole), 0, 200, fields)).toBe(whole);
  });

  it('fits in the room foretold and is decoded to what was given, for any fields', () => {
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
      // Making a failing list of such long values smaller takes many minutes.
      { numRuns: 200, endOnFailure: true },
    );
  });

  it('is the same however many names were seen before', () => {
    const before = encoded(200, ['content-type', 'x', 'X-Some', 'y']);
    for (let i = 0; i < 5000; i++) encoded(200, [`x-invented-${i}`, 'y']);
    expect(encoded(200, ['content-type', 'x', 'X-Some', 'y'])).toEqual(before);
  });
});

const sentAsIs = /^(?!x-content-type-options$)/;

describe('the block of trailers', () => {
  it('has no status', () => {
    const into = Buffer.alloc(100);
    const end = encodeTrailers(into, 3, ['Grpc-Status', '0', 'transfer-encoding', 'chunked']);
    expect(decoded(into.subarray(3, end))).toEqual(['grpc-status', '0']);
  });
});

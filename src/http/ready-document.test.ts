import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { headerValue, headerValues } from './headers.js';
import { documentReply, gzipFor, hashOf, jsonDocument, ReadyDocument } from './ready-document.js';

const GZIP = { level: 5, bytesMin: 1_024 };
const large = { items: Array.from({ length: 200 }, (_, i) => `item-${i}`) };
const largeDocument = () => jsonDocument(large, 'application/json', GZIP);
const smallDocument = () => jsonDocument({}, 'application/json', GZIP);
const get = (...headers: string[]) => ({ method: 'GET', headers });

describe('ReadyDocument', () => {
  it('has the same bytes, ETag and compressed bytes for the same value', async () => {
    const [one, two] = [largeDocument(), largeDocument()];
    expect(one.bytes.equals(two.bytes)).toBe(true);
    expect(one.etag).toBe(two.etag);
    expect(one.etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(await one.gzipped()).toEqual(await two.gzipped());
  });

  it('takes the hash of the bytes unless another one is given', () => {
    const bytes = Buffer.from('x');
    expect(new ReadyDocument('text/plain', bytes, GZIP).hash).toBe(hashOf('x'));
    expect(new ReadyDocument('text/plain', bytes, GZIP, 'ABC')).toMatchObject({ hash: 'ABC', etag: '"ABC"' });
  });

  it('ends JSON with a line feed', () => {
    expect(smallDocument().bytes.toString()).toBe('{}\n');
  });
});

describe('documentReply', () => {
  it('sends the bytes with Content-Length, ETag and Cache-Control', async () => {
    const document = smallDocument();
    const { status, headers, body } = await documentReply(document, get(), ['Cache-Control', 'public']);
    expect(status).toBe(200);
    expect(body).toBe(document.bytes);
    expect(headerValue(headers, 'content-type')).toBe('application/json');
    expect(headerValue(headers, 'content-length')).toBe('3');
    expect(headerValue(headers, 'etag')).toBe(document.etag);
    expect(headerValue(headers, 'cache-control')).toBe('public');
    expect(headerValue((await documentReply(document, get())).headers, 'cache-control')).toBe('no-cache, private');
  });

  it('compresses a large document once, for clients that accept gzip', async () => {
    const document = largeDocument();
    const reply = await documentReply(document, get('Accept-Encoding', 'gzip'));
    expect(headerValue(reply.headers, 'content-encoding')).toBe('gzip');
    expect(headerValue(reply.headers, 'content-length')).toBe(String((reply.body as Buffer).length));
    expect(gunzipSync(reply.body as Buffer)).toEqual(document.bytes);
    expect((await documentReply(document, get('Accept-Encoding', 'gzip, deflate'))).body).toBe(reply.body);
    expect((await documentReply(document, get('Accept-Encoding', 'identity;q=0, gzip'))).body).toBe(reply.body);
  });

  it.each(['gzip;q=0', 'identity', 'br', '*;q=0', 'gzip;q=0, *', 'identity;q=0'])(
    'sends a large document uncompressed for Accept-Encoding %j',
    async (field) => {
      const document = largeDocument();
      const { headers, body } = await documentReply(document, get('Accept-Encoding', field));
      expect(body).toBe(document.bytes);
      expect(headerValue(headers, 'content-encoding')).toBeUndefined();
    },
  );

  it('never compresses fewer bytes than the minimum', async () => {
    const options = { level: 1, bytesMin: 100 };
    const [below, at] = [99, 100].map((bytes) => new ReadyDocument('text/plain', Buffer.alloc(bytes), options));
    expect((await documentReply(below!, get('Accept-Encoding', 'gzip'))).body).toBe(below!.bytes);
    expect((await documentReply(at!, get('Accept-Encoding', 'gzip'))).body).toBe(await at!.gzipped());
  });

  it.each([['*'], ['  * '], ['"TAG"'], ['W/"TAG"'], ['"b","TAG"'], ['"b" , W/"TAG"']])(
    'replies 304 without a body to If-None-Match %s',
    async (field) => {
      const document = new ReadyDocument('text/plain', Buffer.from('x'), GZIP, 'TAG');
      const { status, headers, body } = await documentReply(document, get('If-None-Match', field));
      expect([status, body]).toEqual([304, null]);
      expect(headerValue(headers, 'etag')).toBe('"TAG"');
      expect(headerValue(headers, 'content-length')).toBeUndefined();
    },
  );

  it('compares the ETag with every If-None-Match field', async () => {
    const document = new ReadyDocument('text/plain', Buffer.from('x'), GZIP, 'TAG');
    const reply = await documentReply(document, get('If-None-Match', '"b"', 'if-none-match', '"TAG"'));
    expect(reply.status).toBe(304);
  });

  it.each(['TAG', '"tag"', '"TAG', 'w/"TAG"', ''])('replies 200 to If-None-Match %j', async (field) => {
    const document = new ReadyDocument('text/plain', Buffer.from('x'), GZIP, 'TAG');
    expect((await documentReply(document, get('If-None-Match', field))).status).toBe(200);
  });

  it('has the same Vary field in 200 and 304', async () => {
    for (const [document, vary] of [
      [smallDocument(), 'Accept'],
      [largeDocument(), 'Accept, Accept-Encoding'],
    ] as const) {
      for (const request of [get(), get('Accept-Encoding', 'gzip'), get('If-None-Match', '*')]) {
        expect(headerValues((await documentReply(document, request)).headers, 'vary')).toEqual([vary]);
      }
    }
  });

  it('has neither ETag nor 304 for a document that is not tagged', async () => {
    const [small, big] = await Promise.all(
      [smallDocument(), largeDocument()].map((each) => documentReply(each, get('If-None-Match', '*'), [], false)),
    );
    expect([small!.status, headerValue(small!.headers, 'etag'), headerValue(small!.headers, 'vary')]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect([headerValue(big!.headers, 'etag'), headerValue(big!.headers, 'vary')]).toEqual([
      undefined,
      'Accept-Encoding',
    ]);
  });

  it('replies to HEAD with the headers of GET and no body', async () => {
    for (const document of [smallDocument(), largeDocument()]) {
      const headers = ['Accept-Encoding', 'gzip'];
      const head = await documentReply(document, { method: 'HEAD', headers });
      expect(head.body).toBeNull();
      expect(head.headers).toEqual((await documentReply(document, { method: 'GET', headers })).headers);
    }
  });
});

describe('gzipFor', () => {
  it('compresses bytes from the minimum on, for clients that accept gzip', async () => {
    const bytes = Buffer.alloc(GZIP.bytesMin, 'x');
    const accepts = ['Accept-Encoding', 'gzip'];
    expect(gunzipSync((await gzipFor(accepts, bytes, GZIP))!)).toEqual(bytes);
    expect(gzipFor(accepts, bytes.subarray(1), GZIP)).toBeUndefined();
    expect(gzipFor([], bytes, GZIP)).toBeUndefined();
  });
});

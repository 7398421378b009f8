import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { headerValue } from '../../http/headers.js';
import { answerWith, hasCurrent, jsonDocument } from './ready-document.js';

const large = { items: Array.from({ length: 200 }, (_, i) => `item-${i}`) };
const get = (...headers: string[]) => ({ method: 'GET', headers });

describe('a ready-made document', () => {
  it('has the same bytes and tag wherever it is made', async () => {
    const [one, two] = [jsonDocument(large, 'application/json'), jsonDocument(large, 'application/json')];
    expect(one.etag).toBe(two.etag);
    expect(one.etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(await one.gzipped()).toEqual(await two.gzipped());
  });

  it('is compressed once, for those who take it', async () => {
    const document = jsonDocument(large, 'application/json');
    const reply = await answerWith(document, get('Accept-Encoding', 'gzip'));
    expect(headerValue(reply.headers, 'content-encoding')).toBe('gzip');
    expect(headerValue(reply.headers, 'content-length')).toBe(String((reply.body as Buffer).length));
    expect(gunzipSync(reply.body as Buffer)).toEqual(document.bytes);
    expect((await answerWith(document, get('Accept-Encoding', 'gzip, deflate'))).body).toBe(reply.body);
    expect((await answerWith(document, get())).body).toBe(document.bytes);
  });

  it('is not sent again to who has it', async () => {
    const document = jsonDocument(large, 'application/json');
    const reply = await answerWith(document, get('if-none-match', `"x", W/${document.etag}`));
    expect(reply.status).toBe(304);
    expect(reply.body).toBeNull();
    expect(headerValue(reply.headers, 'etag')).toBe(document.etag);
    expect(headerValue(reply.headers, 'vary')).toContain('Accept');
  });

  it('answers HEAD with its length and no body', async () => {
    const document = jsonDocument({}, 'application/json');
    const reply = await answerWith(document, { method: 'HEAD', headers: [] }, ['Cache-Control', 'public']);
    expect(reply.body).toBeNull();
    expect(headerValue(reply.headers, 'content-length')).toBe('3');
    expect(headerValue(reply.headers, 'cache-control')).toBe('public');
  });
});

describe('hasCurrent', () => {
  it('knows lists, weak tags and the star', () => {
    expect(hasCurrent(['If-None-Match', '*'], '"a"')).toBe(true);
    expect(hasCurrent(['If-None-Match', '"b","a"'], '"a"')).toBe(true);
    expect(hasCurrent(['If-None-Match', 'W/"a"'], '"a"')).toBe(true);
    expect(hasCurrent(['If-None-Match', '"b"', 'If-None-Match', '"a"'], '"a"')).toBe(true);
    expect(hasCurrent(['If-None-Match', 'a'], '"a"')).toBe(false);
    expect(hasCurrent([], '"a"')).toBe(false);
  });
});

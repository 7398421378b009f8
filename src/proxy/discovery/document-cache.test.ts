import { describe, expect, it } from 'vitest';
import { ReadyDocument } from '../../http/ready-document.js';
import { MERGED_GZIP } from './discovery-encoding.js';
import { DocumentCache } from './document-cache.js';

const documentOf = (bytes: number) => new ReadyDocument('x/y', Buffer.alloc(bytes), MERGED_GZIP);

describe('DocumentCache', () => {
  it('makes a document once for concurrent calls, and caches it', async () => {
    const cache = new DocumentCache(100);
    let made = 0;
    const make = async () => {
      made++;
      return { document: documentOf(10), complete: true };
    };
    const [one, two] = await Promise.all([cache.get('a', make), cache.get('a', make)]);
    expect(one.document).toBe(two.document);
    expect((await cache.get('a', make)).document).toBe(one.document);
    expect(made).toBe(1);
  });

  it('evicts the least recently used document beyond its bytes', async () => {
    const cache = new DocumentCache(100);
    const put = (key: string, bytes: number) =>
      cache.get(key, async () => ({ document: documentOf(bytes), complete: true }));
    await put('a', 40);
    await put('b', 40);
    await put('a', 40);
    await put('c', 40);
    expect([cache.has('a'), cache.has('b'), cache.has('c'), cache.bytes]).toEqual([true, false, true, 80]);
    await put('huge', 101);
    expect([cache.has('huge'), cache.bytes]).toEqual([false, 80]);
  });

  it('caches neither failures nor incomplete documents', async () => {
    const cache = new DocumentCache(100);
    await expect(cache.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await cache.get('a', async () => ({ document: documentOf(1), complete: false }));
    expect(cache.has('a')).toBe(false);
  });
});

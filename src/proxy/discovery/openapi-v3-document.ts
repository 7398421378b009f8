import { headerValue } from '../../http/headers.js';
import { DocumentCache, type MadeDocument } from './document-cache.js';
import { DocumentError, type DocumentFetcher } from './document-fetch.js';
import { type OpenApiEncoding, openApiMediaType } from './openapi-encoding.js';
import { mergeSources, type SourceDocument } from './openapi-merge.js';
import { type DocumentSource, documentUrl, INDEX_TARGET, type IndexEntry } from './openapi-v3-index.js';

/** Bound on cached bytes. All group-versions of two Kubernetes versions together have some 8 MB. */
export const OPENAPI_V3_CACHE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * OpenAPI v3 documents of single group-versions: fetched on demand, merged where servers differ,
 * cached by hash.
 */
export class OpenApiV3Documents {
  readonly #fetcher: DocumentFetcher;
  readonly #cache: DocumentCache;

  constructor(fetcher: DocumentFetcher, cacheBytesMax: number = OPENAPI_V3_CACHE_BYTES_MAX) {
    this.#fetcher = fetcher;
    this.#cache = new DocumentCache(cacheBytesMax);
  }

  /** Returns a document. Rejects with DocumentError if no server that lists it returned it. */
  get(entry: IndexEntry, encoding: OpenApiEncoding): Promise<MadeDocument> {
    return this.#cache.get(`${encoding} ${documentUrl(entry)}`, () => this.#make(entry, encoding));
  }

  async #make(entry: IndexEntry, encoding: OpenApiEncoding): Promise<MadeDocument> {
    const fetched = await Promise.all(entry.sources.map((source) => this.#fetch(entry.path, source, encoding)));
    const sources = fetched.map((each) => (each === 'not-acceptable' ? undefined : each));
    const made = await mergeSources({ version: 'v3', encoding }, sources, entry.hash);
    if (made) return made;
    const fault = fetched.every((each) => each === 'not-acceptable') ? 'not-acceptable' : 'connection';
    throw new DocumentError(fault, `no server returned ${INDEX_TARGET}/${entry.path}`);
  }

  /** Fetches from the first server with this content that returns it. */
  async #fetch(
    path: string,
    source: DocumentSource,
    encoding: OpenApiEncoding,
  ): Promise<SourceDocument | 'not-acceptable' | undefined> {
    let isOfOtherForm = false;
    const mediaType = openApiMediaType('v3', encoding);
    const target = `${INDEX_TARGET}/${path}`;
    for (const server of source.servers) {
      const request = { server, target, headers: ['Accept', mediaType], mediaTypes: [mediaType] };
      const fetched = await this.#fetcher.fetch(request).catch(() => undefined);
      isOfOtherForm ||= fetched?.status === 406;
      if (fetched?.status !== 200) continue;
      return {
        bytes: fetched.body,
        exact: headerValue(fetched.headers, 'etag') === `"${source.hash}"`,
        reject: (why) => void this.#fetcher.reportMalformed(request, why),
      };
    }
    return isOfOtherForm ? 'not-acceptable' : undefined;
  }
}

import type { Clock } from '../../base/clock.js';
import { headerValue } from '../../http/headers.js';
import { hashOf } from '../../http/ready-document.js';
import { DocumentCache, type MadeDocument } from './document-cache.js';
import { DocumentError, type DocumentFetcher, type FetchedDocument } from './document-fetch.js';
import { rankServers, type ServerSurface } from './merge.js';
import { combinedHash, type OpenApiEncoding, openApiMediaType } from './openapi-encoding.js';
import { mergeSources, type SourceDocument } from './openapi-merge.js';

export const OPENAPI_V2_TARGET = '/openapi/v2';
/**
 * Bound on cached bytes. One document has 2 MB on a plain server, so a few states of both encodings
 * fit.
 */
export const OPENAPI_V2_CACHE_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Timeout. A server builds the document on first demand, from everything it serves: seconds with
 * many CRDs.
 */
export const OPENAPI_V2_TIMEOUT_MS = 15_000;
/** Time for which the last result is used without conditional requests to every server. */
export const OPENAPI_V2_FRESH_MS = 5_000;

/** The document of one server: its ETag, and the bytes if they were just received. */
interface ServerDocument {
  readonly server: string;
  readonly etag: string;
  readonly bytes: Buffer | undefined;
  /** False if the server is unreachable and this is its last known state. */
  readonly reached: boolean;
}

/** `same`: the reachable servers with the document, if all documents are equal. */
export type OpenApiV2Answer = MadeDocument | { readonly same: readonly string[] };

interface Recent {
  readonly for: readonly ServerSurface[];
  readonly atMs: number;
  readonly answer: OpenApiV2Answer;
}

/** The OpenAPI v2 document of the control plane, merged from all servers. */
export class OpenApiV2 {
  readonly #fetcher: DocumentFetcher;
  readonly #clock: Clock;
  readonly #cache: DocumentCache;
  /** Last ETag by encoding and server. Only servers of the control plane are kept. */
  readonly #etags = new Map<OpenApiEncoding, ReadonlyMap<string, string>>();
  readonly #recent = new Map<OpenApiEncoding, Recent>();
  readonly #reading = new Map<OpenApiEncoding, { for: readonly ServerSurface[]; answer: Promise<OpenApiV2Answer> }>();

  constructor(fetcher: DocumentFetcher, clock: Clock, cacheBytesMax: number = OPENAPI_V2_CACHE_BYTES_MAX) {
    this.#fetcher = fetcher;
    this.#clock = clock;
    this.#cache = new DocumentCache(cacheBytesMax);
  }

  /** Returns the document. Rejects with DocumentError if no server returned one. */
  async get(servers: readonly ServerSurface[], encoding: OpenApiEncoding): Promise<OpenApiV2Answer> {
    const recent = this.#recent.get(encoding);
    if (recent?.for === servers && this.#clock.nowMs() - recent.atMs < OPENAPI_V2_FRESH_MS) return recent.answer;
    const known = this.#reading.get(encoding);
    if (known?.for === servers) return known.answer;
    const reading = { for: servers, answer: this.#read(servers, encoding) };
    this.#reading.set(encoding, reading);
    try {
      const answer = await reading.answer;
      this.#recent.set(encoding, { for: servers, atMs: this.#clock.nowMs(), answer });
      return answer;
    } finally {
      if (this.#reading.get(encoding) === reading) this.#reading.delete(encoding);
    }
  }

  async #read(servers: readonly ServerSurface[], encoding: OpenApiEncoding): Promise<OpenApiV2Answer> {
    const live = rankServers(servers).filter((server) => !server.departed);
    const before = this.#etags.get(encoding) ?? new Map<string, string>();
    const asked = await Promise.all(live.map(({ identity }) => this.#ask(identity, encoding, before.get(identity))));
    const had = asked.filter((document) => document !== undefined);
    this.#etags.set(encoding, new Map(had.map(({ server, etag }) => [server, etag])));
    const distinct = [...new Map(had.map((document) => [document.etag, document])).keys()];
    if (distinct.length === 0) throw new DocumentError('connection', `no server returned ${OPENAPI_V2_TARGET}`);
    const reached = had.filter((document) => document.reached).map(({ server }) => server);
    if (distinct.length === 1 && reached.length > 0) return { same: reached };
    const hash = combinedHash(distinct);
    const made = await this.#cache.get(`${encoding} ${hash}`, () => this.#make(had, distinct, encoding));
    return { document: made.document, complete: made.complete && had.length === live.length };
  }

  /** Sends a conditional request. Returns undefined for a server whose document is not known. */
  async #ask(server: string, encoding: OpenApiEncoding, known?: string): Promise<ServerDocument | undefined> {
    const headers = known === undefined ? [] : ['If-None-Match', known];
    const fetched = await this.#fetch(server, encoding, headers).catch(() => undefined);
    if (fetched?.status === 200) {
      return { server, etag: etagOf(fetched), bytes: fetched.body, reached: true };
    }
    // 404: the server has no document (any more).
    if (known === undefined || fetched?.status === 404) return undefined;
    return { server, etag: known, bytes: undefined, reached: fetched !== undefined };
  }

  async #make(
    had: readonly ServerDocument[],
    etags: readonly string[],
    encoding: OpenApiEncoding,
  ): Promise<MadeDocument> {
    const sources = await Promise.all(
      etags.map((etag) =>
        this.#source(
          had.filter((document) => document.etag === etag),
          encoding,
        ),
      ),
    );
    const hash = combinedHash(etags.map(unquoted));
    const made = await mergeSources({ version: 'v2', encoding }, sources, hash);
    if (!made) throw new DocumentError('connection', `no server returned ${OPENAPI_V2_TARGET}`);
    return made;
  }

  /** Returns the bytes just received, or fetches them from a server that confirmed the ETag. */
  async #source(candidates: readonly ServerDocument[], encoding: OpenApiEncoding): Promise<SourceDocument | undefined> {
    const inHand = candidates.find(({ bytes }) => bytes !== undefined);
    const reject = (server: string) => (why: string) =>
      void this.#fetcher.reportMalformed({ server, target: OPENAPI_V2_TARGET }, why);
    if (inHand) return { bytes: inHand.bytes!, exact: true, reject: reject(inHand.server) };
    for (const { server, reached, etag } of candidates) {
      if (!reached) continue;
      const fetched = await this.#fetch(server, encoding, []).catch(() => undefined);
      if (fetched?.status !== 200) continue;
      return { bytes: fetched.body, exact: etagOf(fetched) === etag, reject: reject(server) };
    }
    return undefined;
  }

  #fetch(server: string, encoding: OpenApiEncoding, headers: readonly string[]) {
    const mediaType = openApiMediaType('v2', encoding);
    return this.#fetcher.fetch({
      server,
      target: OPENAPI_V2_TARGET,
      headers: ['Accept', mediaType, ...headers],
      mediaTypes: [mediaType],
      timeoutMs: OPENAPI_V2_TIMEOUT_MS,
    });
  }
}

function etagOf({ headers, body }: FetchedDocument): string {
  return headerValue(headers, 'etag') ?? `"${hashOf(body)}"`;
}

function unquoted(etag: string): string {
  return etag.replace(/^(W\/)?"|"$/g, '');
}

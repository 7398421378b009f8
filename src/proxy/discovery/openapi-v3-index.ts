import type { Clock } from '../../base/clock.js';
import type { DocumentFetcher } from './document-fetch.js';
import { rankServers, type ServerSurface } from './merge.js';
import { combinedHash } from './openapi-encoding.js';
import { jsonDocument, type ReadyDocument } from './ready-document.js';

/** One content of a document, and who has it. */
export interface DocumentSource {
  readonly hash: string;
  readonly servers: readonly string[];
}

export interface IndexEntry {
  /** `api/v1`, `apis/batch/v1`, … */
  readonly path: string;
  /** Of the document as it is served from here. */
  readonly hash: string;
  /** Distinct contents, in order of precedence. More than one: they are to be merged. */
  readonly sources: readonly DocumentSource[];
}

export interface OpenApiIndex {
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** Servers whose part is the last one they gave, because they do not answer now. */
  readonly unreachable: ReadonlySet<string>;
  readonly document: ReadyDocument;
}

export const INDEX_TARGET = '/openapi/v3';

/** How long an index is believed. OpenAPI follows discovery on each server with a lag of its own, so not longer. */
export const INDEX_FRESH_MS = 2_000;
const ENTRIES_PER_SERVER_MAX = 20_000;
const HASH_CHARS_MAX = 256;

/** The union of all servers' lists of OpenAPI v3 documents. */
export class OpenApiIndexReader {
  readonly #fetcher: DocumentFetcher;
  readonly #clock: Clock;
  /** The last list of each server, for when it does not answer. Only servers of the control plane are kept. */
  #lists = new Map<string, ReadonlyMap<string, string>>();
  #recent: { readonly for: readonly ServerSurface[]; readonly atMs: number; readonly index: OpenApiIndex } | undefined;
  #reading: { readonly for: readonly ServerSurface[]; readonly index: Promise<OpenApiIndex> } | undefined;

  constructor(fetcher: DocumentFetcher, clock: Clock) {
    this.#fetcher = fetcher;
    this.#clock = clock;
  }

  /** `servers` is one view's list: the same object as long as nothing changed. */
  async current(servers: readonly ServerSurface[]): Promise<OpenApiIndex> {
    const recent = this.#recent;
    if (recent?.for === servers && this.#clock.nowMs() - recent.atMs < INDEX_FRESH_MS) return recent.index;
    if (this.#reading?.for === servers) return this.#reading.index;
    const index = this.#read(servers);
    const reading = { for: servers, index };
    this.#reading = reading;
    try {
      this.#recent = { for: servers, atMs: this.#clock.nowMs(), index: await index };
      return await index;
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  async #read(servers: readonly ServerSurface[]): Promise<OpenApiIndex> {
    const live = rankServers(servers).filter((server) => !server.departed);
    const unreachable = new Set<string>();
    const lists = new Map<string, ReadonlyMap<string, string>>();
    await Promise.all(
      live.map(async ({ identity }) => {
        const list = await this.#readList(identity).catch(() => undefined);
        if (!list) unreachable.add(identity);
        const known = list ?? this.#lists.get(identity);
        if (known) lists.set(identity, known);
      }),
    );
    this.#lists = lists;
    return makeIndex(
      live.map(({ identity }) => ({ identity, list: lists.get(identity) ?? new Map() })),
      unreachable,
    );
  }

  async #readList(server: string): Promise<ReadonlyMap<string, string>> {
    // The aggregator does not name the type of its index, and Go then guesses text.
    const mediaTypes = ['application/json', 'text/plain'];
    const request = { server, target: INDEX_TARGET, headers: ['Accept', 'application/json'], mediaTypes };
    const { status, body } = await this.#fetcher.fetch(request);
    // A server from before OpenAPI v3.
    if (status === 404) return new Map();
    const list = parseIndex(body);
    if (!list) throw this.#fetcher.reportMalformed(request, 'the answer is no OpenAPI v3 index');
    return list;
  }
}

/** What the names of documents are made of. Anything else must not get into a request line. */
export function isDocumentPath(path: string): boolean {
  return /^[\w.~@:-][\w.~@:/-]{0,511}$/.test(path);
}

/** Path to hash. Entries that could not be asked for by hash are left to the server that lists them. */
export function parseIndex(body: Buffer): ReadonlyMap<string, string> | undefined {
  try {
    const { paths } = JSON.parse(body.toString()) as { paths?: unknown };
    if (typeof paths !== 'object' || paths === null || Array.isArray(paths)) return undefined;
    const list = new Map<string, string>();
    for (const [path, entry] of Object.entries(paths).slice(0, ENTRIES_PER_SERVER_MAX)) {
      const url = (entry as { serverRelativeURL?: unknown } | null)?.serverRelativeURL;
      if (typeof url !== 'string' || !isDocumentPath(path)) continue;
      const hash = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('hash');
      if (hash && hash.length <= HASH_CHARS_MAX && /^[\w-]+$/.test(hash)) list.set(path, hash);
    }
    return list;
  } catch {
    return undefined;
  }
}

function makeIndex(
  ranked: readonly { readonly identity: string; readonly list: ReadonlyMap<string, string> }[],
  unreachable: ReadonlySet<string>,
): OpenApiIndex {
  const entries = new Map<string, IndexEntry>();
  for (const path of [...new Set(ranked.flatMap(({ list }) => [...list.keys()]))].sort()) {
    const sources: { hash: string; servers: string[] }[] = [];
    for (const { identity, list } of ranked) {
      const hash = list.get(path);
      if (hash === undefined) continue;
      const same = sources.find((source) => source.hash === hash);
      if (same) same.servers.push(identity);
      else sources.push({ hash, servers: [identity] });
    }
    entries.set(path, { path, hash: combinedHash(sources.map((source) => source.hash)), sources });
  }
  const paths = Object.fromEntries(
    [...entries.values()].map((entry) => [entry.path, { serverRelativeURL: documentUrl(entry) }]),
  );
  return { entries, unreachable, document: jsonDocument({ paths }, 'application/json') };
}

export function documentUrl(entry: IndexEntry): string {
  return `${INDEX_TARGET}/${entry.path}?hash=${entry.hash}`;
}

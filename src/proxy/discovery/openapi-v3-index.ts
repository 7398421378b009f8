import type { Clock } from '../../base/clock.js';
import { rawQuery } from '../../base/target.js';
import { jsonDocument, type ReadyDocument } from '../../http/ready-document.js';
import { MERGED_GZIP } from './discovery-encoding.js';
import type { DocumentFetcher } from './document-fetch.js';
import { rankServers, type ServerSurface } from './merge.js';
import { combinedHash } from './openapi-encoding.js';

/** One content of a document, and the servers that have it. */
export interface DocumentSource {
  readonly hash: string;
  readonly servers: readonly string[];
}

export interface IndexEntry {
  /** `api/v1`, `apis/batch/v1`, … */
  readonly path: string;
  /** Hash of the document as Straddle serves it, merged or not. */
  readonly hash: string;
  /** Distinct contents, in order of precedence. If there are several, they are merged. */
  readonly sources: readonly DocumentSource[];
}

export interface OpenApiIndex {
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** Servers that are unreachable now; their last list is used. */
  readonly unreachable: ReadonlySet<string>;
  readonly document: ReadyDocument;
}

export const INDEX_TARGET = '/openapi/v3';

/**
 * Time for which an index is reused. Short, because OpenAPI of a server follows its discovery with
 * a delay.
 */
export const INDEX_FRESH_MS = 2_000;
const ENTRIES_PER_SERVER_MAX = 20_000;
const HASH_CHARS_MAX = 256;

/** Reads the union of the OpenAPI v3 indexes of all servers. */
export class OpenApiIndexReader {
  readonly #fetcher: DocumentFetcher;
  readonly #clock: Clock;
  /**
   * Last list of each server, used while it is unreachable. Only servers of the control plane are
   * kept.
   */
  #lists = new Map<string, ReadonlyMap<string, string>>();
  #recent: { readonly for: readonly ServerSurface[]; readonly atMs: number; readonly index: OpenApiIndex } | undefined;
  #reading: { readonly for: readonly ServerSurface[]; readonly index: Promise<OpenApiIndex> } | undefined;

  constructor(fetcher: DocumentFetcher, clock: Clock) {
    this.#fetcher = fetcher;
    this.#clock = clock;
  }

  /** Returns the index. `servers` is the list of a view: the same object until a change. */
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
    // The aggregator sets no Content-Type for its index, so Go detects text/plain.
    const mediaTypes = ['application/json', 'text/plain'];
    const request = { server, target: INDEX_TARGET, headers: ['Accept', 'application/json'], mediaTypes };
    const { status, body } = await this.#fetcher.fetch(request);
    // 404: a server older than OpenAPI v3.
    if (status === 404) return new Map();
    const list = parseIndex(body);
    if (!list) throw this.#fetcher.reportMalformed(request, 'the reply is not an OpenAPI v3 index');
    return list;
  }
}

/**
 * Returns whether a path has only characters of document names. Others must not get into a request
 * line.
 */
export function isDocumentPath(path: string): boolean {
  return /^[\w.~@:-][\w.~@:/-]{0,511}$/.test(path);
}

/** Parses an index into a map of path to hash. Entries without a valid hash are skipped. */
export function parseIndex(body: Buffer): ReadonlyMap<string, string> | undefined {
  try {
    const { paths } = JSON.parse(body.toString()) as { paths?: unknown };
    if (typeof paths !== 'object' || paths === null || Array.isArray(paths)) return undefined;
    const list = new Map<string, string>();
    for (const [path, entry] of Object.entries(paths).slice(0, ENTRIES_PER_SERVER_MAX)) {
      const url = (entry as { serverRelativeURL?: unknown } | null)?.serverRelativeURL;
      if (typeof url !== 'string' || !isDocumentPath(path)) continue;
      const hash = new URLSearchParams(rawQuery(url)).get('hash');
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
  return { entries, unreachable, document: jsonDocument({ paths }, 'application/json', MERGED_GZIP) };
}

export function documentUrl(entry: IndexEntry): string {
  return `${INDEX_TARGET}/${entry.path}?hash=${entry.hash}`;
}

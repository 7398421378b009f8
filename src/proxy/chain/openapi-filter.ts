import type { Clock } from '../../base/clock.js';
import { rawQuery } from '../../base/target.js';
import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { documentReply, NOT_CACHED } from '../../http/ready-document.js';
import { StatusError } from '../../kube/status-error.js';
import { DocumentError } from '../discovery/document-fetch.js';
import { findVersion } from '../discovery/merge.js';
import { OPENAPI_V2_TARGET, type OpenApiV2 } from '../discovery/merged-openapi-v2.js';
import { chooseOpenApiEncoding } from '../discovery/openapi-encoding.js';
import type { OpenApiV3Documents } from '../discovery/openapi-v3-document.js';
import {
  documentUrl,
  INDEX_TARGET,
  type IndexEntry,
  isDocumentPath,
  type OpenApiIndex,
  type OpenApiIndexReader,
} from '../discovery/openapi-v3-index.js';
import type { AuthorizeDocument } from '../discovery/permission.js';
import type { DiscoveryView, ViewCache } from '../discovery/view-cache.js';

export interface OpenApiFilterOptions {
  /** Returns false while the feature is off: every request passes unchanged. */
  active(): boolean;
  /** Identity of this server among its peers. */
  readonly self: string;
  readonly views: ViewCache;
  readonly index: OpenApiIndexReader;
  readonly documents: OpenApiV3Documents;
  readonly v2: OpenApiV2;
  readonly authorize: AuthorizeDocument;
  readonly clock: Clock;
}

const ONE_YEAR_MS = 365 * 24 * 3_600_000;

/** Replies to OpenAPI requests for the whole control plane; the API server authorizes them. */
export function openApiFilter(options: OpenApiFilterOptions): Filter {
  return {
    name: 'openapi',
    wrap: (next) => (exchange) => {
      const { method, info } = exchange;
      const asked = (method === 'GET' || method === 'HEAD') && info.path.startsWith('/openapi/') && !exchange.upgrade;
      if (!asked || exchange.peerProxied || exchange.localOnly) return next(exchange);
      if (!options.active() || options.views.alone()) return next(exchange);
      if (info.path === OPENAPI_V2_TARGET) return answerV2(options, next, exchange);
      if (info.path === INDEX_TARGET) return answerIndex(options, next, exchange);
      const isDocument = info.path.startsWith(`${INDEX_TARGET}/`) && isDocumentPath(documentPath(exchange));
      return isDocument ? answerV3(options, next, exchange) : next(exchange);
    },
  };
}

async function answerIndex(options: OpenApiFilterOptions, next: Handler, exchange: Exchange): Promise<Reply> {
  const refusal = await options.authorize(exchange, next, INDEX_TARGET);
  if (refusal) return refusal;
  const { document } = await options.index.current(options.views.required().servers);
  return documentReply(document, exchange);
}

async function answerV3(options: OpenApiFilterOptions, next: Handler, exchange: Exchange): Promise<Reply> {
  const { path } = exchange.info;
  // Authorization first: the index lists all groups, so it is read only for callers that may read
  // this path.
  const refusal = await options.authorize(exchange, next, path);
  if (refusal) return refusal;
  const view = options.views.required();
  const index = await options.index.current(view.servers);
  const entry = index.entries.get(documentPath(exchange));
  if (!entry) return answerUnlisted(options, next, exchange, view);
  const hostCan = hostHasAll(options, index, entry);
  const encoding = chooseOpenApiEncoding(exchange, 'v3');
  // An encoding that is unknown here is left to the host, if it has the whole document.
  if (!encoding && hostCan) return next(exchange);
  const hash = new URLSearchParams(rawQuery(exchange.target)).get('hash');
  if (hash && hash !== entry.hash) {
    return {
      status: 301,
      headers: ['Location', documentUrl(entry), 'Content-Length', '0', 'Vary', 'Accept'],
      body: null,
    };
  }
  // Also if the host has the whole document: cached bytes cost neither process anything.
  const wanted = hostCan ? hostFirst(options, entry) : entry;
  const made = await options.documents.get(wanted, encoding ?? notAcceptable(exchange)).catch((error: unknown) => {
    if (error instanceof DocumentError && hostCan) return undefined;
    throw asStatus(error);
  });
  if (!made) return next(exchange);
  return documentReply(
    made.document,
    exchange,
    hash && made.complete ? immutableFor(ONE_YEAR_MS, options.clock) : NOT_CACHED,
  );
}

function documentPath({ info }: Exchange): string {
  return info.path.slice(INDEX_TARGET.length + 1);
}

/** Returns whether all servers have the same document, and the host is one of them and reachable. */
function hostHasAll({ self }: OpenApiFilterOptions, index: OpenApiIndex, entry: IndexEntry): boolean {
  return entry.sources.length === 1 && entry.sources[0]!.servers.includes(self) && !index.unreachable.has(self);
}

/** Puts the host first, so that a peer that hangs does not delay a document needing no peer. */
function hostFirst({ self }: OpenApiFilterOptions, entry: IndexEntry): IndexEntry {
  const sources = entry.sources.map(({ hash, servers }) => ({ hash, servers: [...new Set([self, ...servers])] }));
  return { ...entry, sources };
}

/**
 * Replies for a document that is not in the index: 503, not the host's 404, if only a departed
 * server had its group-version or a peer is unread.
 */
function answerUnlisted(
  options: OpenApiFilterOptions,
  next: Handler,
  exchange: Exchange,
  view: DiscoveryView,
): Promise<Reply> {
  const [, , , prefix, ...rest] = exchange.info.path.split('/');
  const [group = '', version = ''] = prefix === 'api' ? ['', rest[0]] : rest;
  const served = (departed: boolean) =>
    view.servers.some((s) => s.departed === departed && findVersion(s.surface, group, version));
  if (served(true) && !served(false)) {
    throw new StatusError('ServiceUnavailable', `the servers of ${exchange.info.path} have departed`);
  }
  const unread = options.views.unread();
  if (unread.length === 0) return next(exchange);
  throw new StatusError('ServiceUnavailable', `discovery of ${unread.join(', ')} has not been read yet`);
}

async function answerV2(options: OpenApiFilterOptions, next: Handler, exchange: Exchange): Promise<Reply> {
  const refusal = await options.authorize(exchange, next, OPENAPI_V2_TARGET);
  if (refusal) return refusal;
  const encoding = chooseOpenApiEncoding(exchange, 'v2') ?? notAcceptable(exchange);
  const answer = await options.v2.get(options.views.required().servers, encoding).catch((error: unknown) => {
    throw asStatus(error);
  });
  if ('document' in answer) return documentReply(answer.document, exchange);
  return next(exchange);
}

function notAcceptable(exchange: Exchange): never {
  throw new StatusError('NotAcceptable', `${exchange.info.path} is available as JSON and protobuf only`);
}

function asStatus(error: unknown): unknown {
  if (!(error instanceof DocumentError)) return error;
  return new StatusError(error.fault === 'not-acceptable' ? 'NotAcceptable' : 'ServiceUnavailable', error.message);
}

function immutableFor(lifetimeMs: number, clock: Clock): string[] {
  const expires = new Date(clock.nowMs() + lifetimeMs).toUTCString();
  return ['Cache-Control', 'public, immutable', 'Expires', expires];
}

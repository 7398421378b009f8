import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';
import { STRADDLE_USER } from '../identity/straddle-requests.js';
import type { PageAssets } from '../page/page-assets.js';
import { pageHtml } from '../page/page-html.js';
import type { PageHub } from '../page/page-hub.js';
import { sectionOf, stateBytes } from '../page/page-snapshot.js';
import type { PageStreams } from '../page/page-streams.js';
import type { ReachDocument } from '../page/reach-document.js';
import { REACH_PATH } from '../page/reach-reader.js';
import { allowedCaller } from './allowed-caller.js';
import type { CallerRightsOptions } from './caller-rights.js';

export const PAGE_PATH = '/straddle/';
export const STATE_PATH = '/straddle/api/v1/state';
export const STREAM_PATH = '/straddle/api/v1/stream';
const ASSETS_PREFIX = '/straddle/assets/';

export interface PageFilterOptions extends CallerRightsOptions {
  readonly hub: Pick<PageHub, 'snapshot'>;
  readonly streams: Pick<PageStreams, 'open'>;
  readonly assets: PageAssets;
  /** Rejects if the process that knows it does not answer. */
  readonly reach: () => Promise<ReachDocument>;
}

/** Nothing from elsewhere, nothing inline. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const SECURITY_HEADERS = [
  ...['Content-Security-Policy', POLICY, 'X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin', 'Cross-Origin-Opener-Policy', 'same-origin'],
  ...['X-Frame-Options', 'DENY', ...STRADDLE_MARK],
];
const NOT_STORED = ['Cache-Control', 'no-store'];
/** Names stay the same with a new version of Straddle, so that browsers must ask whether a file is still the same. */
const ASKED_AGAIN = ['Cache-Control', 'no-cache'];

/** The right to the page: whoever may read the metrics of a server may see the same as a page. */
const RIGHT = {
  path: '/metrics',
  verb: 'get',
  forbidden: 'forbidden: the page of Straddle needs the right to get the non-resource URL /metrics',
  unanswered: (why: string) => `the API server cannot be asked whether this caller may see the page: ${why}`,
};

/**
 * Serves the page, its files and its API, for reading only. Placed after the limits: authorization is a request. A request that
 * a peer sends on for a client is not answered here: it means the server behind, and the page of the peer is the peer's own.
 */
export function pageFilter(options: PageFilterOptions): Filter {
  return {
    name: 'page',
    wrap: (next) => (exchange) => {
      const { info, upgrade, peerProxied } = exchange;
      if (info.isResource || upgrade || !info.path.startsWith('/straddle')) return next(exchange);
      if (info.path === REACH_PATH && isStraddle(exchange)) return reachReply(exchange, options);
      if (peerProxied || !isPagePath(info.path)) return next(exchange);
      return page(exchange, options);
    },
  };
}

function isPagePath(path: string): boolean {
  switch (path) {
    case '/straddle':
    case PAGE_PATH:
    case STATE_PATH:
    case STREAM_PATH:
    case REACH_PATH:
      return true;
    default:
      return path.startsWith(ASSETS_PREFIX);
  }
}

async function page(exchange: Exchange, options: PageFilterOptions): Promise<Reply> {
  const { path } = exchange.info;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    const error = new StatusError('MethodNotAllowed', 'the page is for reading only: use GET');
    error.headers = ['Allow', 'GET, HEAD'];
    throw error;
  }
  if (path === '/straddle') return redirect();
  if (path.startsWith(ASSETS_PREFIX)) return assetReply(exchange, options.assets);
  refuseOtherSites(exchange);
  const caller = await allowedCaller(exchange, RIGHT, options);
  switch (path) {
    case STATE_PATH:
      return stateReply(exchange, options);
    case STREAM_PATH:
      return stream(exchange, caller, options);
    case REACH_PATH:
      return reachReply(exchange, options);
    default:
      return htmlReply(exchange, options);
  }
}

/** A page of another site must not open streams in the name of whoever has a certificate in the browser. */
function refuseOtherSites({ headers, info }: Exchange): void {
  const site = headerValue(headers, 'sec-fetch-site');
  // A person may come to the page by a link. The API is for its scripts: each tab that goes there would hold a stream.
  const isNavigation = info.path === PAGE_PATH && headerValue(headers, 'sec-fetch-mode') === 'navigate';
  if ((site === 'cross-site' || site === 'same-site') && !isNavigation) {
    throw new StatusError('Forbidden', 'forbidden: pages of other sites may not read the page of Straddle');
  }
}

async function built({ hub }: PageFilterOptions) {
  try {
    return await hub.snapshot();
  } catch (error) {
    throw new StatusError('ServiceUnavailable', `the state of the servers cannot be had: ${(error as Error).message}`);
  }
}

async function htmlReply(exchange: Exchange, options: PageFilterOptions): Promise<Reply> {
  const snapshot = await built(options);
  const { server, atMs } = snapshot.about;
  const content = { server, atMs, verdict: sectionOf(snapshot, 'verdict'), servers: sectionOf(snapshot, 'servers') };
  return whole(exchange, 'text/html; charset=utf-8', pageHtml(content, options.assets), NOT_STORED);
}

async function stateReply(exchange: Exchange, options: PageFilterOptions): Promise<Reply> {
  const bytes = stateBytes(await built(options));
  // Of 5,000 resources it has some megabytes, which slow readers would hold.
  await exchange.holding?.reserve(bytes.byteLength);
  return whole(exchange, 'application/json', bytes, NOT_STORED);
}

async function stream(exchange: Exchange, caller: string, { streams }: PageFilterOptions): Promise<Reply> {
  // Proxies such as nginx would keep events back.
  const headers = ['Content-Type', 'text/event-stream', ...NOT_STORED, 'X-Accel-Buffering', 'no', ...SECURITY_HEADERS];
  if (exchange.method === 'HEAD') return { status: 200, headers, body: null };
  const body = await streams.open(caller, (bytes) => exchange.holding?.reserve(bytes));
  // It has bounds of its own; a place in flight is for requests that end.
  exchange.holding?.stream();
  return { status: 200, headers, body };
}

/** The Straddle of a peer asks on its own behalf, as a verified front proxy. */
function isStraddle({ identity, trustedProxy, method }: Exchange): boolean {
  return method === 'GET' && trustedProxy && identity.kind === 'established' && identity.user === STRADDLE_USER;
}

async function reachReply(exchange: Exchange, { reach }: PageFilterOptions): Promise<Reply> {
  try {
    return whole(exchange, 'application/json', JSON.stringify(await reach()), NOT_STORED);
  } catch (error) {
    throw new StatusError('ServiceUnavailable', `who reaches whom cannot be had: ${(error as Error).message}`);
  }
}

/** For everybody: the files are public, and a look-up in a table is all the work. */
function assetReply(exchange: Exchange, assets: PageAssets): Reply {
  const asset = assets.get(exchange.info.path.slice(ASSETS_PREFIX.length));
  if (!asset) throw new StatusError('NotFound', 'the page has no such file');
  const { bytes, contentType, etag } = asset;
  const headers = ['ETag', etag, ...ASKED_AGAIN, ...SECURITY_HEADERS];
  if (headerValue(exchange.headers, 'if-none-match') === etag) return { status: 304, headers, body: null };
  return {
    status: 200,
    headers: ['Content-Type', contentType, 'Content-Length', String(bytes.byteLength), ...headers],
    body: exchange.method === 'HEAD' ? null : bytes,
  };
}

function redirect(): Reply {
  const headers = ['Location', PAGE_PATH, 'Content-Length', '0', 'Cache-Control', 'no-cache', ...SECURITY_HEADERS];
  return { status: 308, headers, body: Buffer.alloc(0) };
}

function whole(exchange: Exchange, contentType: string, body: string | Buffer, caching: readonly string[]): Reply {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const length = ['Content-Length', String(bytes.byteLength)];
  const headers = ['Content-Type', contentType, ...length, ...caching, ...SECURITY_HEADERS];
  return { status: 200, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

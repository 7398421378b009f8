import type { Clock } from '../../base/clock.js';
import { onBehalfOf } from '../../discovery/synthetic.js';
import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { headerValues } from '../../http/headers.js';
import { type AggregatedVersion, type DiscoveryForm, discoveryForms, OWN_VIEW } from '../../kube/accept.js';
import { StatusError } from '../../kube/status-error.js';
import { canEncode, type DocumentEncoding } from '../discovery/discovery-encoding.js';
import { type DiscoveryPath, parseDiscoveryPath, pathOf } from '../discovery/discovery-path.js';
import type { LegacyAnswer, LegacyDiscovery } from '../discovery/legacy-discovery.js';
import type { Authorize } from '../discovery/permission.js';
import { answerWith, ReadyDocument } from '../discovery/ready-document.js';
import type { DiscoveryRoot, DiscoveryView, ViewCache } from '../discovery/view-cache.js';

export interface DiscoveryFilterOptions {
  /** False while the feature is off: everything passes untouched. */
  active(): boolean;
  readonly views: ViewCache;
  readonly legacy: LegacyDiscovery;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly hooks: { nopeer(): void };
}

const PUBLIC = ['Cache-Control', 'public'];
/** What kube-apiserver says of everything that is not aggregated discovery. */
const PRIVATE = ['Cache-Control', 'no-cache, private'];

/** Answers discovery for the whole control plane. What a caller may read stays the API server's decision. */
export function discoveryFilter(options: DiscoveryFilterOptions): Filter {
  return {
    name: 'discovery',
    wrap: (next) => (exchange) => {
      if (exchange.info.isResource) return next(exchange);
      const asked = isRead(exchange) ? parseDiscoveryPath(exchange.info.path) : undefined;
      // A peer that carried the request here merges for itself and wants this server's part.
      if (!asked || exchange.peerProxied || exchange.localOnly || !options.active()) return next(exchange);
      return answer(options, next, exchange, asked);
    },
  };
}

async function answer(
  options: DiscoveryFilterOptions,
  next: Handler,
  exchange: Exchange,
  asked: DiscoveryPath,
): Promise<Reply> {
  if (asked.kind === 'merged') return answerMerged(options, next, exchange);
  const form = pickForm(exchange, asked);
  if (form?.aggregated && form.profile === 'nopeer') {
    options.hooks.nopeer();
    exchange.localOnly = true;
    return next(exchange);
  }
  if (!form || options.views.alone() || !canEncode(form.encoding)) return next(exchange);
  if (asked.kind === 'root' && asked.root === 'core' && !form.aggregated) {
    return answerApiVersions(options, next, exchange, form.encoding);
  }

  const refusal = await options.authorize(exchange, next, pathOf(asked));
  if (refusal) return refusal;
  const view = viewOf(options);
  if (asked.kind === 'root') return answerRoot(options, exchange, view, asked.root, form.encoding, form.aggregated);
  const document =
    asked.kind === 'group'
      ? options.legacy.group(view, asked.group, form.encoding)
      : await options.legacy.resourceList(view, asked, form.encoding);
  return answerLegacy(options, next, exchange, document);
}

function answerRoot(
  options: DiscoveryFilterOptions,
  exchange: Exchange,
  view: DiscoveryView,
  root: DiscoveryRoot,
  encoding: DocumentEncoding,
  aggregated: AggregatedVersion | undefined,
): Promise<Reply> {
  if (aggregated) return answerWith(view.aggregated(root, aggregated, encoding), exchange, PUBLIC);
  return answerWith(options.legacy.groupList(view, encoding), exchange, PRIVATE);
}

function answerLegacy(
  options: DiscoveryFilterOptions,
  next: Handler,
  exchange: Exchange,
  document: LegacyAnswer,
): Promise<Reply> {
  if (document === 'departed') {
    throw new StatusError('ServiceUnavailable', `the servers that served ${exchange.info.path} have gone away`);
  }
  if (document !== 'absent') return answerWith(document, exchange, PRIVATE);
  const unread = options.views.unread();
  // A 404 here makes clients believe that the API is gone.
  if (unread.length === 0) return next(exchange);
  const why = `what ${unread.join(', ')} serves is not known yet`;
  throw new StatusError('ServiceUnavailable', `${exchange.info.path} cannot be answered right now: ${why}`);
}

/** `/api` says where the asked server is to be reached, so it starts from the host's own answer to this very caller. */
async function answerApiVersions(
  options: DiscoveryFilterOptions,
  next: Handler,
  exchange: Exchange,
  encoding: DocumentEncoding,
): Promise<Reply> {
  const headers = ['Accept', 'application/json'];
  const question = onBehalfOf(exchange, { target: '/api', headers, nowMs: options.clock.nowMs() });
  const stop = exchange.onAbort(() => question.abort());
  const own = await next(question);
  if (own.status !== 200 || own.body === null) return own;
  const completed = await options.legacy.apiVersions(viewOf(options), own, encoding);
  stop();
  return completed instanceof ReadyDocument ? answerWith(completed, exchange, PRIVATE) : { ...own, ...completed };
}

/** The document for people: whatever Accept says, and here even without peers. */
async function answerMerged(options: DiscoveryFilterOptions, next: Handler, exchange: Exchange): Promise<Reply> {
  if (queryOf(exchange).get('profile') === 'nopeer') {
    options.hooks.nopeer();
    const own = onBehalfOf(exchange, { target: '/apis', headers: ['Accept', OWN_VIEW], nowMs: options.clock.nowMs() });
    own.localOnly = true;
    exchange.onAbort(() => own.abort());
    return next(own);
  }
  const refusal = await options.authorize(exchange, next, '/apis');
  if (refusal) return refusal;
  return answerWith(viewOf(options).aggregated('groups', 'v2'), exchange, PUBLIC);
}

/** The best form that can be made here; failing that, the best one, for the host to speak. */
function pickForm(exchange: Exchange, asked: DiscoveryPath): DiscoveryForm | undefined {
  const accept = headerValues(exchange.headers, 'accept');
  const forms = discoveryForms(accept.length === 0 ? undefined : accept.join(','));
  // Only the roots have an aggregated form.
  const possible = asked.kind === 'root' ? forms : forms.filter((form) => !form.aggregated);
  return possible.find((form) => canEncode(form.encoding)) ?? possible[0];
}

function viewOf(options: DiscoveryFilterOptions): DiscoveryView {
  const view = options.views.current();
  if (view) return view;
  // Without this server's own part the document would look complete and not be.
  throw new StatusError('ServiceUnavailable', "this server's own API groups have not been read yet");
}

function isRead(exchange: Exchange): boolean {
  return (exchange.method === 'GET' || exchange.method === 'HEAD') && !exchange.upgrade && !exchange.info.isResource;
}

function queryOf(exchange: Exchange): URLSearchParams {
  const mark = exchange.target.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : exchange.target.slice(mark + 1));
}

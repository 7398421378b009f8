import type { Clock } from '../../base/clock.js';
import { rawQuery } from '../../base/target.js';
import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { headerList } from '../../http/headers.js';
import { documentReply, ReadyDocument } from '../../http/ready-document.js';
import {
  type AggregatedVersion,
  type DiscoveryForm,
  discoveryForms,
  NO_PEER_PROFILE,
  NO_PEER_VIEW,
} from '../../kube/accept.js';
import { StatusError } from '../../kube/status-error.js';
import { canEncode, type DocumentEncoding } from '../discovery/discovery-encoding.js';
import { type DiscoveryPath, parseDiscoveryPath, pathOf } from '../discovery/discovery-path.js';
import type { LegacyAnswer, LegacyDiscovery } from '../discovery/legacy-discovery.js';
import { onBehalfOf } from '../discovery/on-behalf-of.js';
import type { AuthorizeDocument } from '../discovery/permission.js';
import type { DiscoveryRoot, DiscoveryView, ViewCache } from '../discovery/view-cache.js';

export interface DiscoveryFilterOptions {
  /** Returns false while the feature is off: every request passes unchanged. */
  active(): boolean;
  readonly views: ViewCache;
  readonly legacy: LegacyDiscovery;
  readonly authorize: AuthorizeDocument;
  readonly clock: Clock;
  readonly hooks: { nopeer(): void };
}

const PUBLIC = ['Cache-Control', 'public'];

/** Replies to discovery requests for the whole control plane; the API server authorizes them. */
export function discoveryFilter(options: DiscoveryFilterOptions): Filter {
  return {
    name: 'discovery',
    wrap: (next) => (exchange) => {
      if (exchange.info.isResource) return next(exchange);
      const asked = isRead(exchange) ? parseDiscoveryPath(exchange.info.path) : undefined;
      // A peer that rerouted the request here merges itself, and needs only the part of this
      // server.
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
  if (form?.aggregated && form.profile === NO_PEER_PROFILE) {
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
  const view = options.views.required();
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
  if (aggregated) {
    const warning = view.heldWarning(root);
    const headers = warning === undefined ? PUBLIC : [...PUBLIC, 'Warning', warning];
    return documentReply(view.aggregated(root, aggregated, encoding), exchange, headers);
  }
  return documentReply(options.legacy.groupList(view, encoding), exchange);
}

function answerLegacy(
  options: DiscoveryFilterOptions,
  next: Handler,
  exchange: Exchange,
  document: LegacyAnswer,
): Promise<Reply> {
  if (document === 'departed') {
    throw new StatusError('ServiceUnavailable', `the servers of ${exchange.info.path} have departed`);
  }
  if (document !== 'absent') return documentReply(document, exchange);
  const unread = options.views.unread();
  // A 404 here would make clients conclude that the API was removed.
  if (unread.length === 0) return next(exchange);
  const why = `discovery of ${unread.join(', ')} has not been read yet`;
  throw new StatusError('ServiceUnavailable', `${exchange.info.path} is temporarily unavailable: ${why}`);
}

/** Completes the host's reply to this caller: `/api` contains the address of the server. */
async function answerApiVersions(
  options: DiscoveryFilterOptions,
  next: Handler,
  exchange: Exchange,
  encoding: DocumentEncoding,
): Promise<Reply> {
  const headers = ['Accept', 'application/json'];
  const question = onBehalfOf(exchange, { target: '/api', headers, nowMs: options.clock.nowMs() });
  const stop = exchange.onAbort(() => question.abort());
  const hostReply = await next(question);
  if (hostReply.status !== 200 || hostReply.body === null) return hostReply;
  const completed = await options.legacy.apiVersions(options.views.required(), hostReply, encoding);
  stop();
  return completed instanceof ReadyDocument ? documentReply(completed, exchange) : { ...hostReply, ...completed };
}

/** Replies to `/apis/apidiscovery.k8s.io/v2`, the merged document for people, for any Accept. */
async function answerMerged(options: DiscoveryFilterOptions, next: Handler, exchange: Exchange): Promise<Reply> {
  if (new URLSearchParams(rawQuery(exchange.target)).get('profile') === NO_PEER_PROFILE) {
    options.hooks.nopeer();
    const localExchange = onBehalfOf(exchange, {
      target: '/apis',
      headers: ['Accept', NO_PEER_VIEW],
      nowMs: options.clock.nowMs(),
    });
    localExchange.localOnly = true;
    exchange.onAbort(() => localExchange.abort());
    return next(localExchange);
  }
  const refusal = await options.authorize(exchange, next, '/apis');
  if (refusal) return refusal;
  return documentReply(options.views.required().aggregated('groups', 'v2'), exchange, PUBLIC);
}

/** Returns the best form that can be encoded here, else the best one, which the host encodes. */
function pickForm(exchange: Exchange, asked: DiscoveryPath): DiscoveryForm | undefined {
  const forms = discoveryForms(headerList(exchange.headers, 'accept'));
  // Only the roots have an aggregated form.
  const possible = asked.kind === 'root' ? forms : forms.filter((form) => !form.aggregated);
  return possible.find((form) => canEncode(form.encoding)) ?? possible[0];
}

function isRead(exchange: Exchange): boolean {
  return (exchange.method === 'GET' || exchange.method === 'HEAD') && !exchange.upgrade && !exchange.info.isResource;
}

import { gunzipSync } from 'node:zlib';
import type { Clock } from '../../base/clock.js';
import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValue, type RawHeaders } from '../../http/headers.js';
import { wholeReply } from '../../http/whole-reply.js';
import { isObject, member } from '../../kube/json.js';
import { isProxied } from '../../kube/request-info.js';
import { readStatus } from '../../kube/status-decoding.js';
import type { PeerEndpoint } from '../peers/peer-table.js';
import { NOT_TAKEN, type NotTaken } from './not-taken.js';
import { hasVersionedOption, isUnknownOption } from './unknown-option.js';

/**
 * What a server's reply means for the routing of its request:
 * - `answer`: the server's answer, which is passed on;
 * - `draining`: the server is shutting down and refused the request before it read it;
 * - `not-taken`: the Straddle that sent the reply could not pass the request to its server, which has seen nothing of it;
 * - `perhaps-taken`: that Straddle's server did not answer, and may have processed the request;
 * - `unknown-resource`: the server does not serve the resource at all, as against "there is no such object";
 * - `unknown-option`: the server does not know a field selector or an option of a read, and a newer one may. Also an answer.
 */
export type ReplyKind = 'answer' | 'draining' | 'not-taken' | 'perhaps-taken' | 'unknown-resource' | 'unknown-option';

/** One form of refusal. All of it has to match. */
interface Refusal {
  readonly kind: Exclude<ReplyKind, 'answer'>;
  readonly status: number;
  /** Servers from which the form is believed; any without it. */
  readonly from?: PeerEndpoint['kind'];
  /** True for requests for which the form has this meaning; any without it. */
  readonly request?: (exchange: Exchange) => boolean;
  readonly head?: (headers: RawHeaders) => boolean;
  /** Compares the body, which has to be at hand: see `withRefusalRead`. */
  readonly body?: (body: string, exchange: Exchange) => boolean;
}

/**
 * All forms in which servers refuse requests. A kube-apiserver that shuts down refuses with a Status, or, started with
 * --shutdown-send-retry-after, with a plain-text 429; the whole text is compared, because other errors repeat text that
 * the client chose, such as the path. A path that nothing is registered for is answered with a plain-text 404, from 1.38 on
 * with a Status that has the same text and no details, and a missing object with a Status that names it in its details;
 * within groups that the server knows both are a Status, and the message tells which.
 */
const REFUSALS: readonly Refusal[] = [
  {
    kind: 'draining',
    status: 503,
    head: (headers) => isDrainingHead(headers, '1', 'application/json'),
    body: isShutdownStatus,
  },
  {
    kind: 'draining',
    status: 429,
    head: (headers) => isDrainingHead(headers, '5', 'text/plain; charset=utf-8'),
    body: (body) => body === 'The apiserver is shutting down, please try again later.\n',
  },
  { kind: 'not-taken', status: 503, from: 'straddle', head: (headers) => isMarked(headers, 'true') },
  { kind: 'perhaps-taken', status: 503, from: 'straddle', head: (headers) => isMarked(headers, 'maybe') },
  { kind: 'unknown-resource', status: 503, from: 'straddle', head: (headers) => isMarked(headers, 'unknown') },
  { kind: 'unknown-resource', status: 404, request: isForResource, head: isPlainText },
  {
    kind: 'unknown-resource',
    status: 404,
    // A missing object is named in the answer, and may have the sentence for its name.
    request: (exchange) => isForResource(exchange) && !exchange.info.path.includes(NO_SUCH_RESOURCE),
    body: (body) => body.includes(NO_SUCH_RESOURCE),
  },
  { kind: 'unknown-resource', status: 404, request: isForResource, body: isUnknownPathStatus },
  { kind: 'unknown-option', status: 400, request: hasVersionedOption, body: isUnknownOptionStatus },
  { kind: 'unknown-option', status: 422, request: hasVersionedOption, body: isUnknownOptionStatus },
];

const NO_SUCH_RESOURCE = 'the server could not find the requested resource';
/** All refusals are short (a Status with one sentence has some 200 bytes): a longer body is an answer. */
const REFUSAL_BYTES_MAX = 4_096;
/** Servers send a refusal in one piece: one that is not complete by then never will be. */
export const REFUSAL_READ_MS_MAX = 5_000;

/**
 * Returns what a reply means. `from` is the kind of server that sent it. A body counts only if it is at hand, so a reply
 * that arrived over a connection goes through `withRefusalRead` first.
 */
export function classifyReply(exchange: Exchange, reply: Reply, from: PeerEndpoint['kind']): ReplyKind {
  if (!canBeRefusal(exchange, reply)) return 'answer';
  const body = refusalText(reply);
  const found = REFUSALS.find(
    (each) =>
      matchesHead(each, exchange, reply) &&
      (each.from === undefined || each.from === from) &&
      (each.body === undefined || (body !== undefined && each.body(body, exchange))),
  );
  return found?.kind ?? 'answer';
}

/**
 * Reads the body of a reply that only its body can tell from a refusal; returns any other reply as it is, at once.
 * Rejects with AttemptError if the connection breaks in that body, or if it is not complete within REFUSAL_READ_MS_MAX.
 */
export function withRefusalRead(exchange: Exchange, reply: Reply, clock: Clock): Reply | Promise<Reply> {
  if (!canBeRefusal(exchange, reply) || reply.body === null || reply.body instanceof Uint8Array) return reply;
  // Without a length it is not known to be short.
  const isShort = Number(headerValue(reply.headers, 'content-length') ?? Number.NaN) <= REFUSAL_BYTES_MAX;
  if (!isShort || !REFUSALS.some((each) => each.body && matchesHead(each, exchange, reply))) return reply;
  return readRefusal(reply, clock);
}

/** Throws the AttemptError for a reply with which the server `address` refused to take the request. */
export function throwIfNotTaken(kind: ReplyKind, address: string): void {
  switch (kind) {
    case 'draining':
      throw new AttemptError('unsent', 'draining', `${address}: the server is shutting down`);
    case 'not-taken':
      throw new AttemptError('unsent', 'not-taken', `${address}: the server behind it is down`);
    case 'perhaps-taken':
      throw new AttemptError('maybe', 'hang', `${address}: the server behind it did not answer`);
  }
}

const REFUSAL_STATUSES: ReadonlySet<number> = new Set(REFUSALS.map(({ status }) => status));

/** A reply through a `proxy` subresource comes from a process in a pod and means nothing about the API server. */
function canBeRefusal({ info }: Exchange, { status }: Reply): boolean {
  return REFUSAL_STATUSES.has(status) && !isProxied(info);
}

function matchesHead({ status, request, head }: Refusal, exchange: Exchange, reply: Reply): boolean {
  return status === reply.status && (request?.(exchange) ?? true) && (head?.(reply.headers) ?? true);
}

/** Returns the octets of a body that is at hand and short, decompressed; undefined for any other. */
function refusalText({ headers, body }: Reply): string | undefined {
  if (!(body instanceof Uint8Array) || body.byteLength > REFUSAL_BYTES_MAX) return undefined;
  const coding = headerValue(headers, 'content-encoding') ?? 'identity';
  if (coding === 'identity') return Buffer.from(body).toString('latin1');
  if (coding !== 'gzip') return undefined;
  try {
    return gunzipSync(body, { maxOutputLength: REFUSAL_BYTES_MAX }).toString('latin1');
  } catch {
    // Not gzip, or too long: no refusal.
    return undefined;
  }
}

async function readRefusal(reply: Reply, clock: Clock): Promise<Reply> {
  const limits = { clock, timeoutMs: REFUSAL_READ_MS_MAX, bytesMax: REFUSAL_BYTES_MAX };
  const late = () =>
    new AttemptError('maybe', 'timeout', `timeout: the reply is not complete after ${REFUSAL_READ_MS_MAX} ms`);
  try {
    return { ...reply, ...(await wholeReply(() => Promise.resolve(reply), limits, late)) };
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    throw new AttemptError('maybe', 'reset', 'connection lost in the middle of the reply (unexpected EOF)', error);
  }
}

function isDrainingHead(headers: RawHeaders, retryAfter: string, contentType: string): boolean {
  // Set once priority and fairness has admitted a request. The refusal then comes from an aggregated API server.
  if (headerValue(headers, 'x-kubernetes-pf-flowschema-uid') !== undefined) return false;
  return headerValue(headers, 'retry-after') === retryAfter && headerValue(headers, 'content-type') === contentType;
}

function isMarked(headers: RawHeaders, why: NotTaken): boolean {
  return headerValue(headers, NOT_TAKEN.toLowerCase()) === why;
}

function isForResource({ info }: Exchange): boolean {
  return info.isResource;
}

function isPlainText(headers: RawHeaders): boolean {
  return headerValue(headers, 'content-type')?.startsWith('text/plain') ?? false;
}

function isUnknownOptionStatus(body: string, exchange: Exchange): boolean {
  const status = readStatus(Buffer.from(body, 'latin1'));
  return status !== undefined && isUnknownOption(exchange, status);
}

const UNKNOWN_PATH = '404 page not found';

function isUnknownPathStatus(body: string): boolean {
  // Nearly every 404 is about an object.
  if (!body.includes(UNKNOWN_PATH)) return false;
  const status = readStatus(Buffer.from(body, 'latin1'));
  return status?.message === UNKNOWN_PATH && status.reason === 'NotFound' && status.code === 404 && !status.hasDetails;
}

/** Fields of the Status; `metadata`, always empty, may be present too. */
const SHUTDOWN_STATUS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['kind', 'Status'],
  ['apiVersion', 'v1'],
  ['status', 'Failure'],
  ['message', 'apiserver is shutting down'],
  ['reason', 'ServiceUnavailable'],
  ['code', 503],
]);

function isShutdownStatus(body: string): boolean {
  let status: unknown;
  try {
    status = JSON.parse(body);
  } catch {
    return false;
  }
  if (!isObject(status) || Object.keys(status).some((key) => key !== 'metadata' && !SHUTDOWN_STATUS.has(key))) {
    return false;
  }
  return [...SHUTDOWN_STATUS].every(([key, value]) => member(status, key) === value);
}

import { readBody } from '../http/body-stream.js';
import type { Exchange, Reply } from '../http/exchange.js';
import { headerValue } from '../http/headers.js';
import { isObject, member } from '../kube/json.js';
import { isProxied } from '../kube/request-info.js';
import { AttemptError } from './host.js';

/** The refusal is one short sentence; anything longer is some other answer. */
const REFUSAL_BYTES_MAX = 1024;

interface Refusal {
  readonly retryAfter: string;
  readonly contentType: string;
  matches(body: string): boolean;
}

/** The two refusals of a kube-apiserver that shuts down, by status; the 429 needs --shutdown-send-retry-after. */
const REFUSALS: ReadonlyMap<number, Refusal> = new Map([
  [503, { retryAfter: '1', contentType: 'application/json', matches: isShutdownStatus }],
  [
    429,
    {
      retryAfter: '5',
      contentType: 'text/plain; charset=utf-8',
      matches: (body: string) => body === 'The apiserver is shutting down, please try again later.\n',
    },
  ],
]);

/** Fields of the Status; `metadata`, always empty, may be present too. */
const SHUTDOWN_STATUS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['kind', 'Status'],
  ['apiVersion', 'v1'],
  ['status', 'Failure'],
  ['message', 'apiserver is shutting down'],
  ['reason', 'ServiceUnavailable'],
  ['code', 503],
]);

/**
 * Returns a server's answer, or throws an AttemptError if the server refused the request because it is shutting down:
 * a kube-apiserver then refuses requests before it reads them, so any method may be sent to another server. The whole
 * refusal is compared, because other errors repeat text that the client chose, such as the path.
 */
export function unlessDraining(reply: Reply, exchange: Exchange, address: string): Reply | Promise<Reply> {
  const refusal = REFUSALS.get(reply.status);
  if (!refusal) return reply;
  return isProxied(exchange.info) || !hasHeadOf(refusal, reply) ? reply : readRefusal(refusal, reply, address);
}

async function readRefusal(refusal: Refusal, reply: Reply, address: string): Promise<Reply> {
  const body = await readBody(reply.body, REFUSAL_BYTES_MAX);
  if (!refusal.matches(body.toString('latin1'))) return { ...reply, body };
  throw new AttemptError('unsent', 'draining', `${address}: the server is shutting down`);
}

function hasHeadOf({ retryAfter, contentType }: Refusal, { headers }: Reply): boolean {
  const lengthBytes = Number(headerValue(headers, 'content-length'));
  if (!(lengthBytes > 0 && lengthBytes <= REFUSAL_BYTES_MAX)) return false;
  // Set once priority and fairness has admitted a request. The refusal then comes from an aggregated API server.
  if (headerValue(headers, 'x-kubernetes-pf-flowschema-uid') !== undefined) return false;
  return headerValue(headers, 'retry-after') === retryAfter && headerValue(headers, 'content-type') === contentType;
}

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

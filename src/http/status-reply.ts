import { encodeStatus } from '../kube/status-encoding.js';
import type { StatusError } from '../kube/status-error.js';
import type { Exchange, Reply } from './exchange.js';
import { headerValue } from './headers.js';

/** Returns the reply for an error, in the encoding that the client accepts. */
export function statusReply(error: StatusError, exchange: Exchange): Reply {
  const { contentType, bytes } = encodeStatus(error.status, headerValue(exchange.headers, 'accept'));
  const headers = [
    'Content-Type',
    contentType,
    'Content-Length',
    String(bytes.byteLength),
    'Cache-Control',
    'no-cache, private',
    ...error.headers,
  ];
  if (error.retryAfterSeconds !== undefined) headers.push('Retry-After', String(error.retryAfterSeconds));
  if (error.status.code === 401) headers.push('WWW-Authenticate', 'Bearer realm="kubernetes"');
  return { status: error.status.code, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

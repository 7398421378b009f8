import type { Send } from '../../http/outgoing.js';
import { type WholeReply, type WholeReplyLimits, wholeReply } from '../../http/whole-reply.js';

export interface JsonRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body?: object | undefined;
  /** Of the body; JSON by default. */
  readonly contentType?: string;
  /** A form of JSON. */
  readonly accept?: string;
}

/** Sends one request with a body of JSON, or none, and reads the whole reply. Any status is a reply. */
export function requestJson(
  send: Send,
  { method, target, body, contentType = 'application/json', accept = 'application/json' }: JsonRequest,
  limits: WholeReplyLimits,
  work = `${method} ${target}`,
): Promise<WholeReply> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const headers = [
    ...['accept', accept, 'accept-encoding', 'identity'],
    ...(bytes ? ['content-type', contentType, 'content-length', String(bytes.byteLength)] : []),
  ];
  return wholeReply((onAbort) => send(method, target, headers, bytes, onAbort), limits, work);
}

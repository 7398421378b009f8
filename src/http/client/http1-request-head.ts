import { StatusError } from '../../kube/status-error.js';
import type { OutgoingRequest } from '../outgoing.js';
import { FieldKind, isToken, knownName } from './known-field-names.js';

/** Characters that a field value must not contain (RFC 9110, 5.5, as Latin-1). */
const NOT_IN_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_A_TARGET = /[^\x21-\xff]/;
const DIGITS = /^\d{1,15}$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
/** Methods with a body. A server may take the body of any other method for the next request. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export interface Http1RequestHead {
  /** Request line and fields, without Content-Length, Transfer-Encoding and the empty line. */
  readonly text: string;
  /** Content-Length of the caller, or -1. */
  readonly announcedBytes: number;
  /** True if the connection can be reused after this request. */
  readonly keepsAlive: boolean;
  /** True if a request of this method without a body is sent with `content-length: 0`. */
  readonly saysEmpty: boolean;
}

/** Returns the encoded head. Throws StatusError for a request that is ambiguous in HTTP/1.1. */
export function requestHead({ method, target, headers, body }: OutgoingRequest, address: string): Http1RequestHead {
  if ((!METHODS.has(method) && !isToken(method)) || method === 'CONNECT') throw refusal('invalid request method');
  if (!target.startsWith('/') && !/^https?:\/\//.test(target)) throw refusal('the path must start with a slash');
  if (NOT_IN_A_TARGET.test(target)) throw refusal('invalid request path');
  const bodyBytes = body === null ? 0 : body instanceof Uint8Array ? body.byteLength : -1;
  let host: string | undefined;
  let announcedBytes = -1;
  // Some servers send a body with the response to HEAD; it must not be taken for the next response.
  let keepsAlive = method !== 'HEAD' && (bodyBytes === 0 || WITH_BODY.has(method));
  let fields = '';
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    const value = headers[i + 1]!;
    const { kind } = knownName(name);
    if (NOT_IN_A_VALUE.test(value) || kind === FieldKind.invalid) throw refusal('invalid header field');
    if (kind === FieldKind.ordinary || kind === FieldKind.hopByHop) {
      fields += `${name}: ${value}\r\n`;
    } else if (kind === FieldKind.host) {
      if (host !== undefined) throw refusal('duplicate host header');
      host = value;
    } else if (kind === FieldKind.contentLength) {
      if (announcedBytes >= 0) throw refusal('duplicate content-length header');
      if (!DIGITS.test(value)) throw refusal('invalid content-length header');
      announcedBytes = Number(value);
    } else if (kind === FieldKind.connection) {
      if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)) keepsAlive = false;
    } else {
      throw refusal(`unexpected ${name.toLowerCase()} header`);
    }
  }
  if (bodyBytes > 0 && announcedBytes >= 0 && announcedBytes !== bodyBytes)
    throw refusal('the body length differs from content-length');
  const text = `${method} ${target} HTTP/1.1\r\nhost: ${host ?? address}\r\nconnection: ${keepsAlive ? 'keep-alive' : 'close'}\r\n${fields}`;
  return { text, announcedBytes, keepsAlive, saysEmpty: method === 'POST' || method === 'PUT' || method === 'PATCH' };
}

export function refusal(why: string): StatusError {
  return new StatusError('BadRequest', `the request cannot be forwarded: ${why}`);
}

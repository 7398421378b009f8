import { StatusError } from '../../kube/status-error.js';
import type { OutgoingRequest } from '../outgoing.js';
import { FieldKind, isToken, knownName } from './known-field-names.js';

/** What may stand in a field's value: RFC 9110, 5.5, read as Latin-1. */
const NOT_IN_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_A_TARGET = /[^\x21-\xff]/;
const DIGITS = /^\d{1,15}$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
/** Methods for which a server must expect a body; it may take one that comes with another for the next request. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export interface RequestHead {
  /** All but how the body is framed, and the empty line. */
  readonly text: string;
  /** As the caller announced it; -1 without a word about it. */
  readonly announcedBytes: number;
  /** The connection may take another request after this one. */
  readonly keepsAlive: boolean;
  /** A request of this method without a body says that it has none. */
  readonly saysEmpty: boolean;
}

/** Throws a StatusError for what cannot be put on the wire, or would be read as something else there. */
export function requestHead({ method, target, headers, body }: OutgoingRequest, address: string): RequestHead {
  if ((!METHODS.has(method) && !isToken(method)) || method === 'CONNECT') throw refusal('invalid request method');
  if (!target.startsWith('/') && !/^https?:\/\//.test(target)) throw refusal('the path must start with a slash');
  if (NOT_IN_A_TARGET.test(target)) throw refusal('invalid request path');
  const bodyBytes = body === null ? 0 : body instanceof Uint8Array ? body.byteLength : -1;
  let host: string | undefined;
  let announcedBytes = -1;
  // Some servers send a body with the answer to HEAD; it must not be taken for the next answer.
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
    throw refusal('the body has another length than announced');
  const text = `${method} ${target} HTTP/1.1\r\nhost: ${host ?? address}\r\nconnection: ${keepsAlive ? 'keep-alive' : 'close'}\r\n${fields}`;
  return { text, announcedBytes, keepsAlive, saysEmpty: method === 'POST' || method === 'PUT' || method === 'PATCH' };
}

export function refusal(why: string): StatusError {
  return new StatusError('BadRequest', `the request cannot be sent on as it is: ${why}`);
}

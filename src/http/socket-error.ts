import type { AttemptErrorType } from '../base/error-types.js';

interface SocketErrorKind {
  readonly type: AttemptErrorType;
  /** The words that operators search for, as in Linux and Go. */
  readonly words: string;
}

export const UNKNOWN_AUTHORITY_WORDS = 'certificate signed by unknown authority';
const UNKNOWN_AUTHORITY: SocketErrorKind = { type: 'tls', words: UNKNOWN_AUTHORITY_WORDS };

/** Errors of sockets and of TLS by their `code`. */
const KINDS: Readonly<Record<string, SocketErrorKind>> = {
  ECONNREFUSED: { type: 'connect', words: 'connection refused' },
  EHOSTUNREACH: { type: 'connect', words: 'no route to host' },
  ENETUNREACH: { type: 'connect', words: 'network is unreachable' },
  EADDRNOTAVAIL: { type: 'connect', words: 'cannot assign requested address' },
  ENOTFOUND: { type: 'connect', words: 'no such host' },
  EAI_AGAIN: { type: 'connect', words: 'temporary failure in name resolution' },
  ETIMEDOUT: { type: 'timeout', words: 'connection timeout' },
  ERR_HEAD_TIMEOUT: { type: 'timeout', words: 'timeout' },
  ECONNRESET: { type: 'reset', words: 'connection reset by peer' },
  EPIPE: { type: 'reset', words: 'broken pipe' },
  ERR_CONNECTION_ENDED: { type: 'reset', words: 'unexpected EOF' },
  ERR_HTTP1_RESPONSE: { type: 'protocol', words: 'malformed HTTP response' },
  EPROTO: { type: 'tls', words: 'TLS handshake failed' },
  CERT_HAS_EXPIRED: { type: 'tls', words: 'certificate has expired' },
  CERT_NOT_YET_VALID: { type: 'tls', words: 'certificate is not yet valid' },
  ERR_TLS_CERT_ALTNAME_INVALID: { type: 'tls', words: 'certificate is not valid for this name' },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
};

/** Returns the `code` of an error, or an empty string. */
export function errorCode(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** Returns the words for an error's code, undefined for a code that is not in the table. */
export function socketErrorWords(error: unknown): string | undefined {
  return kindOf(error)?.words;
}

export function socketErrorType(error: unknown): AttemptErrorType {
  const kind = kindOf(error);
  if (kind) return kind.type;
  const code = errorCode(error);
  if (code.includes('TIMEOUT')) return 'timeout';
  if (isTlsCode(code)) return 'tls';
  return code.startsWith('HPE_') ? 'protocol' : 'transport';
}

/** Returns the words for an error, with the message of the error where that has details: `no such host`, `malformed HTTP response: …`. */
export function describeSocketError(error: Error): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map((each) => describeSocketError(each as Error)).join('; ');
  }
  const words = socketErrorWords(error);
  if (words === undefined) return error.message || errorCode(error) || error.name;
  // Node.js's messages of system calls (`connect ECONNREFUSED 10.0.0.1:6443`) repeat code and address.
  const isSystemMessage = 'syscall' in error && errorCode(error) !== 'EPROTO';
  if (isSystemMessage || error.message === '') return words;
  return error.message.includes(words) ? error.message : `${words}: ${error.message}`;
}

function kindOf(error: unknown): SocketErrorKind | undefined {
  const code = errorCode(error instanceof AggregateError ? (error.errors.at(-1) ?? error) : error);
  return Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
}

function isTlsCode(code: string): boolean {
  return (
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    code.startsWith('CERT_') ||
    code.startsWith('UNABLE_TO_') ||
    code.endsWith('_CERT') ||
    code.includes('SELF_SIGNED')
  );
}

import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import { formatHostPort, parseHostPort } from '../../base/address.js';
import type { AttemptErrorType } from '../../base/error-types.js';
import { AttemptError } from '../../http/attempt-error.js';
import { errorCode, socketErrorType, socketErrorWords, UNKNOWN_AUTHORITY_WORDS } from '../../http/socket-error.js';

/** A call to a server that users name (webhook, aggregated API server) failed. */
export class OutboundCallError extends Error {
  readonly type: AttemptErrorType | 'too-large';

  constructor(type: AttemptErrorType | 'too-large', message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundCallError';
    this.type = type;
  }
}

/**
 * Converts an error to the message of kube-apiserver's client, because it is shown to users, who
 * search for it: `dial tcp 10.0.0.1:443: connect: connection refused`.
 */
export function outboundCallError(address: string, error: unknown): OutboundCallError {
  if (error instanceof OutboundCallError) return error;
  const attempt = error instanceof AttemptError ? error : undefined;
  const cause = (attempt?.cause ?? error) as NodeJS.ErrnoException;
  const code = errorCode(cause);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new OutboundCallError('connect', `dial tcp: lookup ${parseHostPort(address).host}: no such host`, error);
  }
  if (socketErrorType(cause) === 'connect') {
    const dialled = dialledAddress(cause) ?? address;
    return new OutboundCallError('connect', `dial tcp ${dialled}: connect: ${socketErrorWords(cause)}`, error);
  }
  if (code === 'ETIMEDOUT' || attempt?.type === 'timeout') {
    return new OutboundCallError('timeout', `dial tcp ${address}: i/o timeout`, error);
  }
  const certificate = certificateProblem(cause);
  if (certificate !== undefined) {
    return new OutboundCallError('tls', `tls: failed to verify certificate: x509: ${certificate}`, error);
  }
  if (attempt?.type === 'tls') return new OutboundCallError('tls', cause.message, error);
  if (code === 'ERR_CONNECTION_ENDED') return new OutboundCallError('reset', 'EOF', error);
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new OutboundCallError('reset', 'connection reset by peer', error);
  }
  return new OutboundCallError(attempt?.type ?? 'protocol', cause.message || String(error), error);
}

/** Returns the address to which a name was resolved, the last one of several. */
function dialledAddress(cause: Error): string | undefined {
  const last = cause instanceof AggregateError ? cause.errors.at(-1) : cause;
  const { address, port } = last as { readonly address?: string; readonly port?: number };
  if (address === undefined || port === undefined) return undefined;
  return formatHostPort({ host: address, port });
}

function certificateProblem(cause: NodeJS.ErrnoException): string | undefined {
  const code = cause.code ?? '';
  if (socketErrorWords(cause) === UNKNOWN_AUTHORITY_WORDS) return UNKNOWN_AUTHORITY_WORDS;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return `certificate has expired or is not yet valid: ${cause.message}`;
  }
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  const { host, cert } = cause as unknown as { readonly host: string; readonly cert?: PeerCertificate };
  const names = (cert?.subjectaltname ?? '').split(', ');
  const valid = names.flatMap((name) => {
    const [, kind, value] = /^(DNS|IP Address):(.*)$/.exec(name) ?? [];
    return value !== undefined && (isIP(host) === 0 ? kind === 'DNS' : kind === 'IP Address') ? [value] : [];
  });
  if (valid.length > 0) return `certificate is valid for ${valid.join(', ')}, not ${host}`;
  if (isIP(host) !== 0) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return `certificate is not valid for any names, but wanted to match ${host}`;
}

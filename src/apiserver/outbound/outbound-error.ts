import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import { AttemptError } from '../../core/host.js';

/** Why a call to somebody's server did not come to an answer. */
export class OutboundCallError extends Error {
  /** connect, tls, timeout, too-large, reset, aborted, protocol */
  readonly type: string;

  constructor(type: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundError';
    this.type = type;
  }
}

/**
 * Says it in the words that kube-apiserver's clients know, because they end up in the answers that users read and search
 * for: `dial tcp 10.0.0.1:443: connect: connection refused`.
 */
export function outboundCallError(address: string, error: unknown): OutboundCallError {
  if (error instanceof OutboundCallError) return error;
  const attempt = error instanceof AttemptError ? error : undefined;
  const cause = (attempt?.cause ?? error) as NodeJS.ErrnoException;
  const code = String(cause.code ?? '');
  const dialled = DIAL_PROBLEMS[code];
  if (dialled !== undefined) {
    return new OutboundCallError('connect', `dial tcp ${dialledAddress(cause) ?? address}: connect: ${dialled}`, error);
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new OutboundCallError('connect', `dial tcp: lookup ${hostOf(address)}: no such host`, error);
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

const DIAL_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

/** What a name was resolved to, the last one where several were tried. */
function dialledAddress(cause: Error): string | undefined {
  const last = cause instanceof AggregateError ? cause.errors.at(-1) : cause;
  const { address, port } = last as { readonly address?: string; readonly port?: number };
  if (address === undefined || port === undefined) return undefined;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

function certificateProblem(cause: NodeJS.ErrnoException): string | undefined {
  const code = cause.code ?? '';
  if (UNKNOWN_AUTHORITY.has(code)) return 'certificate signed by unknown authority';
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

function hostOf(address: string): string {
  return address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}

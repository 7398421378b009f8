import { AttemptError } from '../core/host.js';

/**
 * Turns what a socket or the HTTP client reports into an AttemptError. `begun` says whether the request had been given
 * to a connection: before that nothing can have reached the server, after that everything may have.
 */
export function attemptError(address: string, cause: unknown, begun: boolean): AttemptError {
  if (cause instanceof AttemptError) return cause;
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const type = errorType(error);
  const message = `${address}: ${describe(error)}`;
  return new AttemptError(begun ? 'maybe' : 'unsent', type, message, error);
}

function errorType(error: Error): string {
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  if (code.includes('TIMEOUT') || code === 'ETIMEDOUT') return 'timeout';
  if (isTlsCode(code)) return 'tls';
  if (code === 'ECONNREFUSED' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'ENOTFOUND')
    return 'connect';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_CONNECTION_ENDED') return 'reset';
  if (code.startsWith('HPE_') || code === 'ERR_HTTP1_RESPONSE') return 'protocol';
  return 'transport';
}

function isTlsCode(code: string): boolean {
  return (
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    code.startsWith('CERT_') ||
    code.startsWith('UNABLE_TO_') ||
    code.endsWith('_CERT') ||
    code.includes('SELF_SIGNED') ||
    code === 'EPROTO'
  );
}

/** Some errors (several addresses tried) say nothing themselves and hold the story in their parts. */
function describe(error: Error): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(String).join('; ');
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

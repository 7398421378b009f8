import type { AttemptErrorType } from '../base/error-types.js';
import { describeSocketError, socketErrorType } from './socket-error.js';

/**
 * Thrown by a host or a destination that could not answer. `processed` decides about another
 * attempt: `unsent` allows one with any method, `maybe` only with a safe one.
 */
export class AttemptError extends Error {
  readonly processed: 'unsent' | 'maybe';
  /** Stable, for metrics; docs/reference/errors.md explains each. */
  readonly type: AttemptErrorType;

  constructor(processed: 'unsent' | 'maybe', type: AttemptErrorType, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AttemptError';
    this.processed = processed;
    this.type = type;
  }
}

/**
 * Turns an error of a socket or of the HTTP client into an AttemptError. `begun`: the request was
 * passed to a connection, so that it may have reached the server.
 */
export function attemptError(address: string, cause: unknown, begun: boolean): AttemptError {
  if (cause instanceof AttemptError) return cause;
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const message = `${address}: ${describeSocketError(error)}`;
  return new AttemptError(begun ? 'maybe' : 'unsent', socketErrorType(error), message, error);
}

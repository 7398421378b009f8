import { type Status, type StatusDetails, type StatusReason, status } from './status.js';

/** Error that becomes a Status reply: in the errors filter, and in the embedded API server. */
export class StatusError extends Error {
  readonly status: Status;
  readonly retryAfterSeconds: number | undefined;
  /** Further header fields of the reply. */
  headers: readonly string[] = [];

  constructor(reason: StatusReason, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'StatusError';
    // Clients handle 503 and 429 only by waiting, so both always have Retry-After.
    const waits = reason === 'ServiceUnavailable' || reason === 'TooManyRequests';
    this.retryAfterSeconds = details?.retryAfterSeconds ?? (waits ? 1 : undefined);
    this.status = status(reason, message, waits ? { ...details, retryAfterSeconds: this.retryAfterSeconds! } : details);
  }
}

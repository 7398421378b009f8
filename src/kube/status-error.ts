import type { RawHeaders } from '../http/headers.js';
import { type Status, type StatusDetails, type StatusReason, status } from './status.js';

/** Thrown by whoever refuses a request; the errors filter turns it into the answer, in one place. */
export class StatusError extends Error {
  readonly status: Status;
  readonly retryAfterSeconds: number | undefined;
  /** Further fields of the answer. */
  headers: RawHeaders = [];

  constructor(reason: StatusReason, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'StatusError';
    // Clients act on a 503 or 429 only by waiting, so both always say how long.
    const waits = reason === 'ServiceUnavailable' || reason === 'TooManyRequests';
    this.retryAfterSeconds = details?.retryAfterSeconds ?? (waits ? 1 : undefined);
    this.status = status(reason, message, waits ? { ...details, retryAfterSeconds: this.retryAfterSeconds! } : details);
  }
}

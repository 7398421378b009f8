export interface ListenerLimits {
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
  readonly headerTimeoutMs: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly streamsPerConnectionMax: number;
  /** A connection without a request is closed after this long. */
  readonly idleMs: number;
  /** A client that is waited for must send or take `PROGRESS_BYTES_MIN` in this time. */
  readonly progressMs: number;
}

/** Fewer bytes than this in `progressMs` are no progress, unless they are all that is left. */
export const PROGRESS_BYTES_MIN = 4 * 1024;

/**
 * A reply is given so many times `progressMs`. Only the kernel is seen to take it, in steps of up to a third of its send buffer
 * and more: a client that reads 40 KiB a second may seem to read nothing for half a minute.
 */
export const REPLY_PROGRESS_TIMES = 1.5;

/** Names of the limits that the listener reports when they are reached. */
export type ListenerLimit =
  | 'max-connections'
  | 'max-connections-per-address'
  | 'client-progress-timeout'
  | 'pipelined-requests';

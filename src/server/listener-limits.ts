export interface ListenerLimits {
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
  readonly headerTimeoutMs: number;
  readonly connectionsMax: number;
  readonly streamsPerConnectionMax: number;
  /** A connection without a request is closed after this long. */
  readonly idleMs: number;
}

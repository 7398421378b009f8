/** Limits that the configuration sets. */
export interface ServerConnectionLimits {
  /** Header list size of one request, counted as in RFC 9113, 10.5.1; a larger one gets 431. */
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
  readonly streamsMax: number;
  /** Time without an open stream after which the connection is drained (GOAWAY). */
  readonly idleMs: number;
  /** Timeout of the first request, and of each header block from its first byte to its last. */
  readonly headerTimeoutMs: number;
}

/** Clock that tests replace. */
export interface ConnectionClock {
  nowMs(): number;
  after(delayMs: number, callback: () => void): () => void;
}

/** Flow-control window of one stream: the unread request body bytes that a client may send. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** Flow-control window of a connection: bounds the memory of its unread request bodies. */
export const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/** Back-pressure starts when this many response bytes of one stream are unsent. */
export const STREAM_UNSENT_BYTES_MAX = 128 * 1024;
/** Back-pressure starts when this many chunks are unsent: each costs an object, however small. */
export const STREAM_UNSENT_PIECES_MAX = 1_024;
/** Bound on bytes in the socket's write buffer; further response bytes stay in their streams. */
export const CONNECTION_UNSENT_BYTES_MAX = 256 * 1024;
/** Allowance above CONNECTION_UNSENT_BYTES_MAX for control frames. */
export const CONTROL_UNSENT_BYTES_MAX = 64 * 1024;
/** SETTINGS_HEADER_TABLE_SIZE: the default, which clients assume before they read SETTINGS. */
export const HEADER_TABLE_BYTES = 4_096;
/**
 * Header blocks up to this multiple of `headerBytesMax` are decoded to their end although the
 * request is refused: the HPACK state must stay in step with the client.
 */
export const HEADER_BLOCK_FACTOR = 4;
/** Average size assumed for CONTINUATION frames; many small ones are an attack (CVE-2024-27316). */
export const CONTINUATION_BYTES_USUAL = 1_024;
/** Time after the last GOAWAY and the half-close in which the client may close the connection. */
export const LINGER_MS = 1_000;
/** Wait of a draining connection for the PING acknowledgement after the first GOAWAY. */
export const DRAIN_NOTICE_MS = 1_000;

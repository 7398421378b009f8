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

/**
 * Heads of requests above the usual size, over all connections of a server. A connection without one counts its own heads only
 * (CONNECTION_HEADS_BYTES_MIN).
 */
export interface LargeHeads {
  /** Counts the head of a request, unless it is of usual size; returns false if there is no room for it. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  /** Counts an incomplete header block, by its whole size. May displace others; returns false to displace this one. */
  blockGrew(block: OpenBlock, bytes: number): boolean;
  blockEnded(block: OpenBlock): void;
}

/** Incomplete header block. */
export interface OpenBlock {
  /** Ends the connection: the HPACK state is lost with the block. */
  displace(): void;
}

/** Flow-control window of one stream: the unread request body bytes that a client may send. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** Flow-control window of a connection: bounds the memory of its unread request bodies. */
export const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/**
 * Bound on the sum of the heads of a connection's open streams, counted as in RFC 9113, 10.5.1: a stream keeps its head until its
 * response has left, which a client without a flow-control window delays. The larger one of this and of
 * CONNECTION_HEADS_FACTOR times `headerBytesMax` holds.
 */
export const CONNECTION_HEADS_BYTES_MIN = 4 * 1024 * 1024;
export const CONNECTION_HEADS_FACTOR = 16;
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
/** Bound on how much larger than `headerBytesMax` such a block may be, where that is large. */
export const HEADER_BLOCK_EXCESS_BYTES_MAX = 256 * 1024;
/** Average size assumed for CONTINUATION frames; many small ones are an attack (CVE-2024-27316). */
export const CONTINUATION_BYTES_USUAL = 1_024;
/** Time after the last GOAWAY and the half-close in which the client may close the connection. */
export const LINGER_MS = 1_000;
/** Wait of a draining connection for the PING acknowledgement after the first GOAWAY. */
export const DRAIN_NOTICE_MS = 1_000;

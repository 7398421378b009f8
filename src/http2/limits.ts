/** What an operator sets. */
export interface ServerConnectionLimits {
  /** Of one request, counted as RFC 9113, 10.5.1 says; above it the answer is 431. */
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
  readonly streamsMax: number;
  /** A connection without a request is told to go after this long. */
  readonly idleMs: number;
  /** For the first request, and for each block of headers from its first byte to its last. */
  readonly headerTimeoutMs: number;
}

/** Time, so that tests need not wait for it. */
export interface ConnectionClock {
  nowMs(): number;
  after(delayMs: number, callback: () => void): () => void;
}

/** What a client may send of one request's body before somebody has read it. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** The same for all requests of a connection, and so what their unread bodies may hold in memory. */
export const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/** Whoever produces an answer is held back when so much of it waits for its client. */
export const STREAM_UNSENT_BYTES_MAX = 128 * 1024;
/** The same for the pieces it comes in, each of which takes more memory than a byte. */
export const STREAM_UNSENT_PIECES_MAX = 1_024;
/** So much is handed to the socket ahead of what the kernel takes; the rest waits in its stream. */
export const CONNECTION_UNSENT_BYTES_MAX = 256 * 1024;
/** Beyond that, acknowledgements and resets that a client causes and does not read. */
export const CONTROL_UNSENT_BYTES_MAX = 64 * 1024;
/** The dynamic table of HPACK that clients may fill, which is what they assume from the start. */
export const HEADER_TABLE_BYTES = 4_096;
/** A block is read to its end to keep the compression's state, even where its request is refused for its size. */
export const HEADER_BLOCK_FACTOR = 4;
/** Clients fill their frames; many small ones are an attack (CVE-2024-27316 and its kin). */
export const CONTINUATION_BYTES_USUAL = 1_024;
/** How long a client may take to close after GOAWAY and the end of what was written. */
export const LINGER_MS = 1_000;
/** How long a draining connection waits for word that the client has seen the first GOAWAY. */
export const DRAIN_NOTICE_MS = 1_000;

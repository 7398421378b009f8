import type { Readable } from 'node:stream';
import type { Reply } from './exchange.js';
import type { RawHeaders } from './headers.js';

/**
 * Which of the two connections to a server a request travels on: `front-proxy` shows the front-proxy certificate, so
 * the server believes the identity headers on it; `plain` shows none, so the server judges the caller's own credentials.
 */
export type Lane = 'front-proxy' | 'plain';

/** A request ready for the wire: hop-by-hop fields removed, identity decided. */
export interface OutgoingRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: RawHeaders;
  /** Bytes when the body is small and was gathered (it can then be sent again), a stream otherwise. */
  readonly body: Readable | Uint8Array | null;
  readonly lane: Lane;
  /** A watch: it flows for minutes and hardly anything of it is on its way at any time, so it may share a connection. */
  readonly isWatch?: boolean;
  /** Without an answer's head after this long the attempt fails; 0 for no limit (exec and the like). */
  readonly headTimeoutMs: number;
  /** Registers a callback for "the caller has gone"; returns how to take it back. */
  onAbort(listener: () => void): () => void;
}

/** Somewhere requests can be sent: one address, verified over TLS. */
export interface Destination {
  /** host:port */
  readonly address: string;
  readonly inFlight: number;
  /** Rejects with AttemptError. The reply's body streams. */
  send(request: OutgoingRequest): Promise<Reply>;
  /** For requests that ask to switch protocols; a refusal comes back as an ordinary reply. */
  upgrade(request: OutgoingRequest): Promise<Reply>;
  /** Fails what waits for an answer's head (the server hangs); streams that flow go on. */
  abandonWaiting(reason: string): void;
  close(): Promise<void>;
}

import type { Readable } from 'node:stream';
import type { Reply } from './exchange.js';
import type { RawHeaders } from './headers.js';
import type { OnAbort } from './on-abort.js';

/**
 * Kind of connection to a server. `front-proxy` presents the front-proxy certificate, so that the
 * server trusts identity headers; `plain` presents none, so that it checks the caller's credentials.
 */
export type Lane = 'front-proxy' | 'plain';

/** A request ready for the wire: hop-by-hop fields removed, identity decided. */
export interface OutgoingRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: RawHeaders;
  /** Bytes if the body is small and was gathered (it can then be sent again), else a stream. */
  readonly body: Readable | Uint8Array | null;
  readonly lane: Lane;
  /** A watch: it lasts for minutes with few bytes in transit, so it may share a connection. */
  readonly isWatch?: boolean;
  /** Timeout until the head of the reply; 0 for no limit (exec and the like). */
  readonly headTimeoutMs: number;
  /** Registers a listener for the abort of the caller; returns a function that removes it. */
  readonly onAbort: OnAbort;
  /**
   * Returns whether another server could take the request now; `begun`: this one may have got bytes of it. While none could,
   * `abandonWaiting` leaves it waiting for its head timeout. Not for watches.
   */
  readonly hasAlternative?: ((begun: boolean) => boolean) | undefined;
}

/**
 * Sends one authenticated request of Straddle itself. `onAbort` registers a listener for
 * cancellation. Every client in kube/client sends through one of these.
 */
export type Send = (
  method: string,
  target: string,
  headers: RawHeaders,
  body: Uint8Array | null,
  onAbort: OnAbort,
) => Promise<Reply>;

/** A target of requests: one address, verified over TLS. */
export interface Destination {
  /** host:port */
  readonly address: string;
  readonly inFlight: number;
  /** Sends a request. Rejects with AttemptError. The body of the reply is streamed. */
  send(request: OutgoingRequest): Promise<Reply>;
  /** Sends a request that switches protocols; a refusal is an ordinary reply. */
  upgrade(request: OutgoingRequest): Promise<Reply>;
  /**
   * Fails the requests that wait for the head of their reply (the server hangs), except those with `hasAlternative` that have
   * none; streams continue. May be called again while the server hangs.
   */
  abandonWaiting(reason: string): void;
  close(): Promise<void>;
}

/** Whose a client certificate is. A front proxy, as another Straddle is one, sends the requests of many users. */
export type CertificateOwner = 'user' | 'front-proxy';

/** Bounds on the head of one request. */
export interface HeadLimits {
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
}

export interface ListenerLimits extends HeadLimits {
  /**
   * The same for connections that whose certificate has an owner: front proxies send a field for each group and
   * each extra value of a user. kube-apiserver has one bound for all clients, 1 MiB.
   */
  readonly authenticatedHead: HeadLimits;
  /**
   * Bound on the sum of the heads, on such connections, that are larger than any head on the others; a quarter of it is for
   * users. Incomplete heads may have a quarter as much besides.
   */
  readonly largeHeadBytesMax: number;
  readonly headerTimeoutMs: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly streamsPerConnectionMax: number;
  /** Time without a request after which a connection is closed. */
  readonly idleMs: number;
  /** Time in which a client that a request waits for must send or read `PROGRESS_BYTES_MIN`. */
  readonly progressMs: number;
}

/** Bound on connections above `connectionsMax` that wait until others may be displaced. */
export const CONNECTIONS_WAITING_MAX = 1_000;

/**
 * Bound on the wait for the TLS handshake. Clients in Go end a handshake after 10 s: one that begins
 * later is work for nobody.
 */
export const HANDSHAKE_WAIT_MS_MAX = 8_000;

/** Least number of bytes in `progressMs` that counts as progress, unless fewer are left. */
export const PROGRESS_BYTES_MIN = 4 * 1024;

/**
 * Factor on `progressMs` for replies. The proxy sees only the kernel take bytes, in steps of a
 * third of its send buffer and more: a client that reads 40 KiB/s can seem to read nothing for half
 * a minute.
 */
export const REPLY_PROGRESS_TIMES = 1.5;

/** Names of the limits that the listener reports to `onLimit`. */
export type ListenerLimit =
  | 'max-connections'
  | 'max-connections-per-address'
  | 'client-progress-timeout'
  | 'max-header-bytes'
  | 'max-headers-count'
  | 'held-heads'
  | 'pipelined-requests';

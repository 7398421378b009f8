import type { Authenticate } from '../../http/authenticate.js';
import type { SurfaceFetch } from '../peers/surface-reader.js';
import type { LocalHost } from '../routing/router.js';

/**
 * The API server behind the chain of this process: a kube-apiserver (upstream-host.ts) or the
 * embedded API server (embedded-host.ts). All differences between the two are in this interface.
 */
export interface Host extends LocalHost {
  /** Begins to serve; resolves when `ready` has its first value. */
  start(): Promise<void>;
  /** Sends a GET to the server as Straddle itself, for documents of that server: discovery, OpenAPI. */
  readonly fetch: SurfaceFetch;
  /** Calls back after a change of the surface; undefined where it can only be polled. */
  readonly onSurfaceChange?: (listener: () => void) => void;
  /** Adds the credentials that the host verifies to authentication by connection and front proxy. */
  authenticate(fromConnection: Authenticate): Authenticate;
  /** host:port of the API server as other machines reach it; undefined where that is this process. */
  readonly advertisedAddress: string | undefined;
  /**
   * Resolves to whether nobody listens at `advertisedAddress`, so that others reach the server through this process only.
   * Never rejects; undefined where that cannot be.
   */
  readonly isBehindProcess?: () => Promise<boolean>;
  /** Number of requests that the server works on for this process; undefined where nothing is sent to it. */
  readonly inFlight?: () => number;
  /** Further addresses of this server, which are never peers. */
  readonly furtherAddresses: readonly string[];
  /** Uses the present certificates for new connections: they have changed. */
  renew(): void;
  /** Stops all writes at once, as the end of the process would; undefined where not possible. */
  readonly sever?: () => void;
  /** Stops the host; requests must have ended before. */
  close(): Promise<void>;
}

import type { Authenticate } from '../../http/authenticate.js';
import type { SurfaceFetch } from '../peers/surface-reader.js';
import type { LocalHost } from '../routing/router.js';

/**
 * The API server behind the chain of this process: a kube-apiserver (upstream-host.ts) or Straddle's own API server
 * (embedded-host.ts). Everything in which the two differ is here; the rest of the program knows no difference.
 */
export interface Host extends LocalHost {
  /** Begins to serve; resolves when it is known whether the host takes requests. */
  start(): Promise<void>;
  /** Sends a GET to the server as Straddle itself, for its own documents: discovery, OpenAPI. */
  readonly fetch: SurfaceFetch;
  /** Calls back when the host serves something else than before; undefined where that can only be polled. */
  readonly onSurfaceChange?: (listener: () => void) => void;
  /** Completes the authentication by connection and front proxy with the credentials that the host itself verifies. */
  authenticate(fromConnection: Authenticate): Authenticate;
  /** host:port of the API server as other machines reach it; undefined where that is this process. */
  readonly advertisedAddress: string | undefined;
  /** Further addresses of this server, so that it does not take itself for a peer. */
  readonly furtherAddresses: readonly string[];
  /** Uses the present certificates for new connections: those for outgoing requests have changed. */
  renew(): void;
  /** Stops all writes from this moment on, as the end of the process would; undefined where that is not possible. */
  readonly sever?: () => void;
  /** Ends what `start` began; requests must have ended before. */
  close(): Promise<void>;
}

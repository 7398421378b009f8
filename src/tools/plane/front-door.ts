import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { AttemptError } from '../../http/attempt-error.js';
import type { BodyStream } from '../../http/body-stream.js';
import { chain, type Exchange, type Handler, type Reply } from '../../http/exchange.js';
import { gatherSmallBody } from '../../http/gather-body.js';
import { mayMoveOn } from '../../http/send-again.js';
import { Listener } from '../../http/server/listener.js';
import { StatusError } from '../../kube/status-error.js';
import { errorsFilter } from '../../proxy/chain/errors-filter.js';
import { identityFilter } from '../../proxy/chain/identity-filter.js';
import { PAGE_PATH, STREAM_PATH } from '../../proxy/chain/page-filter.js';
import { requestInfoFilter } from '../../proxy/chain/request-info-filter.js';
import { createAuthenticator } from '../../proxy/identity/authenticate.js';
import { ConnectionStandings } from '../../proxy/identity/connection-standings.js';
import { createOutgoingHeaders } from '../../proxy/identity/outgoing-headers.js';
import { attempt } from '../../proxy/routing/attempt.js';
import { Backends, type Door, type DoorOptions, type FrontDoorTarget } from './backends.js';

export interface FrontDoorOptions extends DoorOptions {
  readonly frontProxyNames: readonly string[];
  readonly logger: Logger;
}

const HEAD_TIMEOUT_MS = 60_000;
const LIMITS = {
  headerBytesMax: 64 * 1024,
  headersCountMax: 1_000,
  authenticatedHead: { headerBytesMax: 1024 * 1024, headersCountMax: 20_000 },
  largeHeadBytesMax: 128 * 1024 * 1024,
  headerTimeoutMs: 30_000,
  connectionsMax: 10_000,
  connectionsPerAddressMax: 10_000,
  streamsPerConnectionMax: 250,
  idleMs: 180_000,
  progressMs: 30_000,
};

/**
 * Balances requests, as most load balancers before control planes do: each goes to the next server
 * that is ready, independent of its connection and of the versions of the servers. Only /version is answered by the oldest.
 */
export class FrontDoor implements Door {
  readonly #backends: Backends;
  readonly #outgoingHeaders = createOutgoingHeaders();
  readonly #listener: Listener;
  readonly #clock: Clock;
  /** Streams of the page, which have no end. */
  readonly #pageStreams = new Map<Exchange, BodyStream>();

  constructor(options: FrontDoorOptions) {
    const { tls, clock, logger, frontProxyNames } = options;
    this.#clock = clock;
    this.#backends = new Backends({ ...options, readsVersions: true });
    const standings = new ConnectionStandings({
      allowedNames: frontProxyNames,
      clientCa: () => tls.clientCa(),
      requestHeaderCa: () => tls.requestHeaderCa(),
      clock,
    });
    const handler: Handler = chain(
      [errorsFilter(logger), requestInfoFilter, identityFilter(createAuthenticator({ standings }))],
      (exchange) => this.#forward(exchange),
    );
    this.#listener = new Listener({
      ...options,
      tls: tls.serving(),
      limits: LIMITS,
      certificateOwner: (connection) => standings.ownerOf(connection),
      handler,
    });
  }

  async start(): Promise<{ readonly port: number }> {
    const bound = await this.#listener.listen();
    await this.#backends.look();
    return bound;
  }

  look(): Promise<void> {
    return this.#backends.look();
  }

  /** Returns whether requests are sent to a server (host:port). */
  isReady(address: string): boolean {
    return this.#backends.isReady(address);
  }

  async close(graceMs: number): Promise<void> {
    for (const body of this.#pageStreams.values()) body.end();
    await this.#listener.close(graceMs);
    await this.#backends.close();
  }

  async #forward(exchange: Exchange): Promise<Reply> {
    await gatherSmallBody(exchange);
    const tried: string[] = [];
    for (const backend of this.#orderFor(exchange.info.path)) {
      try {
        const leaving = this.#outgoingHeaders(exchange, { kind: 'kube-apiserver', rerouted: false });
        const reply = await attempt(exchange, {
          destination: backend.destination,
          leaving,
          headTimeoutMs: HEAD_TIMEOUT_MS,
          clock: this.#clock,
        });
        if (exchange.info.path === STREAM_PATH) this.#noteStream(exchange, reply);
        return reply;
      } catch (error) {
        if (!(error instanceof AttemptError) || error.type === 'aborted') throw error;
        tried.push(error.message);
        if (error.processed === 'unsent') backend.ready = false;
        if (!mayMoveOn(exchange, error)) break;
      }
    }
    const why = tried.length === 0 ? 'no API server is ready' : tried.join('; ');
    throw new StatusError('ServiceUnavailable', `the front door reached no API server: ${why}`);
  }

  #orderFor(path: string): FrontDoorTarget[] {
    // Clients that compare versions (Helm) would see another one each time, and the page another server.
    if (path === '/version') return this.#backends.oldestFirst();
    return isOfPage(path) ? this.#backends.forPage() : this.#backends.inTurn();
  }

  /** A drain would wait for a page that somebody has open. */
  #noteStream(exchange: Exchange, { body }: Reply): void {
    for (const each of this.#pageStreams.keys()) if (each.isOver) this.#pageStreams.delete(each);
    if (body !== null && !(body instanceof Uint8Array)) this.#pageStreams.set(exchange, body);
  }
}

/** The page of a Straddle, not its switch. */
function isOfPage(path: string): boolean {
  return path === PAGE_PATH || path.startsWith('/straddle/api/') || path.startsWith('/straddle/assets/');
}

import { attempt } from '../core/attempt.js';
import type { Clock } from '../core/clock.js';
import { chain, type Exchange, type Handler, type Reply } from '../core/exchange.js';
import { gatherSmallBody } from '../core/gather-body.js';
import { AttemptError } from '../core/host.js';
import type { Destination } from '../core/outgoing.js';
import { StatusError } from '../core/status-error.js';
import { errorsFilter } from '../filters/errors.js';
import { identityFilter } from '../filters/identity.js';
import { requestInfoFilter } from '../filters/request-info.js';
import { createAuthenticator } from '../identity/authenticate.js';
import { createOutgoingHeaders } from '../identity/outgoing-headers.js';
import type { Logger } from '../observe/logger.js';
import { Listener } from '../server/listener.js';
import { Destinations } from '../transport/destinations.js';
import { OwnRequests } from '../transport/own-requests.js';
import type { ProxyTls } from '../transport/proxy-tls.js';

export interface FrontDoorOptions {
  readonly host: string;
  readonly port: number;
  /** host:port of each API server. */
  readonly servers: readonly string[];
  readonly tls: ProxyTls;
  readonly frontProxyNames: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const PROBE_EVERY_MS = 500;
const PROBE_TIMEOUT_MS = 2_000;
const HEAD_TIMEOUT_MS = 60_000;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LIMITS = {
  headerBytesMax: 64 * 1024,
  headersCountMax: 1_000,
  headerTimeoutMs: 30_000,
  connectionsMax: 10_000,
  streamsPerConnectionMax: 250,
  idleMs: 180_000,
};

interface Backend {
  readonly destination: Destination;
  ready: boolean;
}

/**
 * A load balancer before the API servers, as most control planes have one: each request goes to the next server that is
 * ready, whatever connection it came on. It knows nothing of versions, so it shows what clients of such a balancer meet.
 */
export class FrontDoor {
  readonly #options: FrontDoorOptions;
  readonly #backends: readonly Backend[];
  readonly #own = new OwnRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
  readonly #outgoingHeaders = createOutgoingHeaders();
  readonly #listener: Listener;
  #next = 0;
  #cancelProbe: () => void = () => {};
  #closed = false;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    const { tls, clock, logger, frontProxyNames } = options;
    const destinations = new Destinations(() => tls.peerTls());
    this.#backends = options.servers.map((address) => ({ destination: destinations.make(address), ready: false }));
    const handler: Handler = chain(
      [
        errorsFilter(logger),
        requestInfoFilter,
        identityFilter(
          createAuthenticator({
            allowedNames: frontProxyNames,
            clientCa: () => tls.clientCa(),
            requestHeaderCa: () => tls.requestHeaderCa(),
            clock,
          }),
        ),
      ],
      (exchange) => this.#forward(exchange),
    );
    this.#listener = new Listener({ ...options, tls: tls.serving(), limits: LIMITS, handler });
  }

  /** Listens, and resolves when every server has been asked how it is. */
  async start(): Promise<{ readonly port: number }> {
    const bound = await this.#listener.listen();
    await this.#probe();
    return bound;
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelProbe();
    await this.#listener.close(graceMs);
    await Promise.all(this.#backends.map(({ destination }) => destination.close()));
  }

  async #forward(exchange: Exchange): Promise<Reply> {
    await gatherSmallBody(exchange);
    const tried: string[] = [];
    for (const backend of this.#inTurn()) {
      try {
        const leaving = this.#outgoingHeaders(exchange, { kind: 'kube-apiserver', rerouted: false });
        return await attempt(exchange, { destination: backend.destination, leaving, headTimeoutMs: HEAD_TIMEOUT_MS });
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        if (error.type === 'aborted') throw error;
        tried.push(error.message);
        if (error.processed === 'unsent') backend.ready = false;
        const mayGoOn = error.processed === 'unsent' || SAFE_METHODS.has(exchange.method);
        if (!mayGoOn || exchange.bodyTouched) break;
      }
    }
    const why = tried.length === 0 ? 'no API server is ready' : tried.join('; ');
    throw new StatusError('ServiceUnavailable', `the front door reached no API server: ${why}`);
  }

  #inTurn(): Backend[] {
    const ready = this.#backends.filter((each) => each.ready);
    if (ready.length === 0) return [];
    const first = this.#next++ % ready.length;
    return [...ready.slice(first), ...ready.slice(0, first)];
  }

  async #probe(): Promise<void> {
    await Promise.all(
      this.#backends.map(async (backend) => {
        const verdict = await this.#own.probeReady(backend.destination, PROBE_TIMEOUT_MS).catch(() => false);
        backend.ready = verdict === true;
      }),
    );
    if (this.#closed) return;
    this.#cancelProbe = this.#options.clock.after(PROBE_EVERY_MS, () => void this.#probe());
  }
}

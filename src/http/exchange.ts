import type { Duplex, Readable } from 'node:stream';
import { NON_RESOURCE, type RequestInfo } from '../kube/request-info.js';
import type { BodyStream } from './body-stream.js';
import { headListBytes, type RawHeaders } from './headers.js';
import type { Holding } from './holding.js';
import { ANONYMOUS, type Identity } from './identity.js';

/** The connection of a request: one object for its life, so that facts about it can be cached. */
export interface ClientConnection {
  /** Without port; never an IPv4-mapped IPv6 address. Empty for requests of this process. */
  readonly remoteAddress: string;
  /** Certificates that the client sent, leaf first, DER, not verified. Empty without one. */
  readonly certificateChain: readonly Uint8Array[];
  /** Set by the limits filter after a caller was authenticated: others are displaced first. */
  authenticated?: boolean;
}

export interface ExchangeInit {
  readonly method: string;
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | null;
  readonly connection: ClientConnection;
  readonly upgrade?: boolean;
  /** Size of the head, if the listener has counted it. */
  readonly headBytes?: number;
}

/**
 * One request on its way through the chain. The request as received is immutable; every other field
 * is set once, by the filter in its comment, before a later filter runs.
 */
export class Exchange {
  readonly method: string;
  /** Path and query as received; sent on unchanged. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | null;
  readonly connection: ClientConnection;
  /** An upgrade request (exec, attach, port-forward), answered with `Reply.upgraded`. */
  readonly upgrade: boolean;
  /** Size of the head, counted as by `headListBytes`. */
  readonly headBytes: number;
  readonly startedAtMs: number;
  /** The same moment by the monotonic clock. */
  readonly begunAt = performance.now();

  /** Set by the request-info filter. */
  info: RequestInfo = NON_RESOURCE;
  /** Set by the identity filter. */
  identity: Identity = ANONYMOUS;
  /** Set by the identity filter: rerouted by an authenticated peer, never to be rerouted again. */
  peerProxied = false;
  /** Set by the discovery filter: asks for the local view; never rerouted. */
  localOnly = false;
  /** Set by the identity filter: from a verified front proxy, whose `X-Forwarded-*` are trusted. */
  trustedProxy = false;
  /** Set by the limits filter; undefined for requests of this process. */
  holding: Holding | undefined;
  /** Set by the router, for logs and metrics: the server that answered, and the reason. */
  routed: { readonly to: string; readonly why: string } | undefined;
  /** Set by the router with a 503, because no live server serves the request or could be reached: the reason. */
  heldBack: string | undefined;
  /** Set by the router: the local server alone would have answered with a wrong 404. */
  prevented404 = false;
  /** Counted by the router: failed attempts after which the request moved on to another server. */
  failovers = 0;

  /** Time until servers began their replies; the rest of the request's time is Straddle's. */
  awaitedMs = 0;
  /** A small body, gathered before the first attempt so that it can be sent again. See gather-body.ts. */
  gatheredBody: Uint8Array | undefined;
  /** The body stream was passed to a server: the request cannot be sent a second time. */
  bodyTouched = false;
  #aborted = false;
  #over = false;
  /** Nearly always the only one: the attempt in progress. */
  #listener: (() => void) | undefined;
  #moreListeners: Set<() => void> | undefined;

  constructor(init: ExchangeInit, nowMs: number) {
    this.method = init.method;
    this.target = init.target;
    this.headers = init.headers;
    this.body = init.body;
    this.connection = init.connection;
    this.upgrade = init.upgrade ?? false;
    this.headBytes = init.headBytes ?? init.target.length + headListBytes(init.headers);
    this.startedAtMs = nowMs;
  }

  /** The client has disconnected: the reply is not read. */
  get aborted(): boolean {
    return this.#aborted;
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const first = this.#listener;
    const more = this.#moreListeners;
    this.#listener = undefined;
    this.#moreListeners = undefined;
    first?.();
    if (more) for (const listener of more) listener();
  }

  /** The reply has been sent as a whole, or will never be. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Releases the holding: called once by the listener, when the request is over. */
  end(): void {
    this.#over = true;
    this.holding?.releaseAll();
  }

  /** Calls back once on an abort, at once after one; returns a function that unregisters. */
  onAbort(listener: () => void): () => void {
    if (this.#aborted) {
      listener();
      return () => {};
    }
    if (this.#listener === undefined) this.#listener = listener;
    else {
      this.#moreListeners ??= new Set();
      this.#moreListeners.add(listener);
    }
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
      else this.#moreListeners?.delete(listener);
    };
  }
}

export type ReplyBody = Uint8Array | BodyStream | null;

/** The answer to an exchange. A reply that is not used must be passed to `discard`. */
export interface Reply {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: ReplyBody;
  /** With status 101: the connection to the server, after its response head. */
  readonly upgraded?: { readonly socket: Duplex; readonly head: Uint8Array };
}

/** Answers an exchange, or throws. */
export type Handler = (exchange: Exchange) => Promise<Reply>;

export interface Filter {
  readonly name: string;
  wrap(next: Handler): Handler;
}

/** Wraps filters, in running order, around the handler that answers. */
export function chain(filters: readonly Filter[], last: Handler): Handler {
  return filters.reduceRight((next, filter) => filter.wrap(next), last);
}

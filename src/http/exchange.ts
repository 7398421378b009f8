import type { Duplex, Readable } from 'node:stream';
import { NON_RESOURCE, type RequestInfo } from '../kube/request-info.js';
import type { BodyStream } from './body-stream.js';
import type { RawHeaders } from './headers.js';
import type { Holding } from './holding.js';
import { ANONYMOUS, type Identity } from './identity.js';

/** The connection a request came in on. One object for its whole life, so what is learnt about it is learnt once. */
export interface ClientConnection {
  /** Without port; IPv4 in its own form also on a socket for both families. Empty for requests of this process. */
  readonly remoteAddress: string;
  /** Certificates the client sent, its own first, DER. Empty without one. Nothing is verified yet. */
  readonly certificateChain: readonly Uint8Array[];
  /** Set by the limits filter when a caller on this connection has been authenticated: others are displaced first. */
  authenticated?: boolean;
}

export interface ExchangeInit {
  readonly method: string;
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | null;
  readonly connection: ClientConnection;
  readonly upgrade?: boolean;
}

/**
 * One request on its way through the chain. What came over the wire is immutable and untouched; what filters learn
 * about it is set once by the filter that is named, before anything after that filter runs.
 */
export class Exchange {
  readonly method: string;
  /** Path and query exactly as received; this, and nothing derived from it, is what is sent on. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | null;
  readonly connection: ClientConnection;
  /** The client asks to switch protocols (exec, attach, port-forward); answered with `Reply.upgraded`. */
  readonly upgrade: boolean;
  readonly startedAtMs: number;
  /** The same moment on a clock that is finer and never set, for measuring. */
  readonly begunAt = performance.now();

  /** Set by the request-info filter. */
  info: RequestInfo = NON_RESOURCE;
  /** Set by the identity filter. */
  identity: Identity = ANONYMOUS;
  /** Set by the identity filter: an authenticated peer carried this here, so it must not travel on. */
  peerProxied = false;
  /** Set by the discovery filter: only this server's own view will do; must not be carried to a peer. */
  localOnly = false;
  /** Set by the identity filter: the connection is a verified front proxy's, whose `X-Forwarded-*` are believed. */
  trustedProxy = false;
  /** Set by the limits filter; undefined for requests of this process's own. */
  holding: Holding | undefined;
  /** Set by the routing filter, for logs and metrics: where the answer came from and why. */
  routed: { readonly to: string; readonly why: string } | undefined;

  /** Time spent waiting for servers to begin their answers; the rest of a request's time is Straddle's own. */
  awaitedMs = 0;
  /** A small body, gathered before the first attempt so that it can be sent again. See gather-body.ts. */
  gatheredBody: Uint8Array | undefined;
  /** The body stream was handed to a server: the request can't be sent a second time. */
  bodyTouched = false;
  #aborted = false;
  #over = false;
  /** Nearly always one at a time: whoever waits for a server's answer. */
  #listener: (() => void) | undefined;
  #moreListeners: Set<() => void> | undefined;

  constructor(init: ExchangeInit, nowMs: number) {
    this.method = init.method;
    this.target = init.target;
    this.headers = init.headers;
    this.body = init.body;
    this.connection = init.connection;
    this.upgrade = init.upgrade ?? false;
    this.startedAtMs = nowMs;
  }

  /** The client has gone; nobody reads the answer. */
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

  /** Gives back what the request holds: called once by the server that received the request, when it is over. */
  end(): void {
    this.#over = true;
    this.holding?.releaseAll();
  }

  /** Calls back once when the client goes (at once if it has gone); returns how to take that back. */
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

/** An answer on its way back. Whoever drops a reply with a streaming body must cancel that body. */
export interface Reply {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: ReplyBody;
  /** With status 101: the connection to the server, already past its response head. */
  readonly upgraded?: { readonly socket: Duplex; readonly head: Uint8Array };
}

/** Answers an exchange. Failing is throwing; forgetting to answer does not compile. */
export type Handler = (exchange: Exchange) => Promise<Reply>;

export interface Filter {
  readonly name: string;
  wrap(next: Handler): Handler;
}

/** Filters in running order, outermost first, around what finally answers. */
export function chain(filters: readonly Filter[], last: Handler): Handler {
  return filters.reduceRight((next, filter) => filter.wrap(next), last);
}

import { createHash } from 'node:crypto';
import { formatHostPort, parseHostPort } from '../../base/address.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { BodyTooLargeError } from '../../http/body-stream.js';
import { PooledDestination } from '../../http/client/pooled-destination.js';
import type { Reply } from '../../http/exchange.js';
import type { OnAbort } from '../../http/on-abort.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import type { ConnectionTls } from '../../http/tls/connection-tls.js';
import { wholeReply } from '../../http/whole-reply.js';
import { OutboundCallError, outboundCallError } from './outbound-error.js';

/** Servers that connections are kept to; beyond that the one longest unused is let go. */
export const OUTBOUND_DESTINATIONS_MAX = 256;
/** Answers to whole calls (reviews, discovery, OpenAPI documents) are read into memory up to this. */
export const OUTBOUND_ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Short, because nothing is known of these servers; one that says when it closes is believed. */
const KEEP_ALIVE_MS = 30_000;

export interface OutboundCallTarget {
  /** host:port, an IPv6 host in brackets */
  readonly address: string;
  /** The name that the certificate must carry. */
  readonly serverName: string;
  /** PEM; undefined for the public authorities. */
  readonly caBundle: string | undefined;
  readonly insecureSkipVerify?: boolean;
}

export interface OutboundCall {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
}

export interface OutboundCallsOptions {
  /** The front-proxy certificate, for what travels on the `front-proxy` lane. Asked again after `renew`. */
  readonly clientCertificate?: () => { readonly cert: string; readonly key: string } | undefined;
  readonly answerBytesMax?: number;
  readonly destinationsMax?: number;
  readonly clock?: Clock;
}

/**
 * Connections to servers that users name: webhooks and aggregated API servers. Whole calls for small questions, streams
 * for requests that are sent on. Redirects are never followed: they would carry a review, or an identity that is
 * believed, to a server that nobody named. Everything rejects with OutboundCallError.
 */
export class OutboundCalls {
  readonly #options: OutboundCallsOptions;
  readonly #clock: Clock;
  /** In order of use, the longest unused first. */
  readonly #destinations = new Map<string, PooledDestination>();

  constructor(options: OutboundCallsOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** One question, answered whole. `frontProxy` shows the front-proxy certificate. */
  async call(target: OutboundCallTarget, call: OutboundCall, frontProxy = false) {
    const late = () => new OutboundCallError('timeout', 'context deadline exceeded');
    const bytesMax = this.#options.answerBytesMax ?? OUTBOUND_ANSWER_BYTES_MAX;
    const send = (onAbort: OnAbort): Promise<Reply> =>
      this.#destination(target).send({
        method: call.method,
        target: call.path,
        headers: withHost(call.headers, target),
        body: call.body,
        lane: frontProxy ? 'front-proxy' : 'plain',
        headTimeoutMs: 0,
        onAbort,
      });
    try {
      return await wholeReply(send, { clock: this.#clock, timeoutMs: call.timeoutMs, bytesMax }, late);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw new OutboundCallError('too-large', error.message, error);
      throw outboundCallError(target.address, error);
    }
  }

  /** A request sent on; the answer's body streams. */
  async send(target: OutboundCallTarget, request: OutgoingRequest): Promise<Reply> {
    return this.#translated(target, () => this.#destination(target).send(request));
  }

  /** A request that asks to switch protocols; a refusal comes back as an ordinary reply. */
  async upgrade(target: OutboundCallTarget, request: OutgoingRequest): Promise<Reply> {
    return this.#translated(target, () => this.#destination(target).upgrade(request));
  }

  /** The front-proxy certificate changed: connections made from now on show the new one. */
  renew(): void {
    for (const destination of this.#destinations.values()) letGo(destination);
    this.#destinations.clear();
  }

  async close(): Promise<void> {
    const all = [...this.#destinations.values()];
    this.#destinations.clear();
    await Promise.all(all.map((destination) => destination.close()));
  }

  async #translated(target: OutboundCallTarget, send: () => Promise<Reply>): Promise<Reply> {
    try {
      return await send();
    } catch (error) {
      throw outboundCallError(target.address, error);
    }
  }

  #destination(target: OutboundCallTarget): PooledDestination {
    const key = keyOf(target);
    let destination = this.#destinations.get(key);
    if (destination) {
      this.#destinations.delete(key);
    } else {
      this.#makeRoom();
      destination = new PooledDestination({
        address: target.address,
        tls: this.#tlsFor(target),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        keepAliveMs: KEEP_ALIVE_MS,
      });
    }
    this.#destinations.set(key, destination);
    return destination;
  }

  #makeRoom(): void {
    const max = this.#options.destinationsMax ?? OUTBOUND_DESTINATIONS_MAX;
    for (const [key, destination] of this.#destinations) {
      if (this.#destinations.size < max) return;
      this.#destinations.delete(key);
      letGo(destination);
    }
  }

  #tlsFor(target: OutboundCallTarget): ConnectionTls {
    const { caBundle, serverName, insecureSkipVerify } = target;
    if (
      caBundle !== undefined &&
      !insecureSkipVerify &&
      !/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(caBundle)
    ) {
      throw new OutboundCallError('tls', 'unable to load root certificates: unable to parse bytes as PEM block');
    }
    const own = this.#options.clientCertificate?.();
    return {
      ca: insecureSkipVerify ? undefined : caBundle,
      servername: serverName,
      cert: own?.cert,
      key: own?.key,
      ...(insecureSkipVerify ? { insecureSkipVerify } : {}),
    };
  }
}

/** What is under way ends well, the connections close after it. */
function letGo(destination: PooledDestination): void {
  destination.renewConnections();
}

function keyOf({ address, serverName, caBundle, insecureSkipVerify }: OutboundCallTarget): string {
  const bundle = caBundle === undefined ? '' : createHash('sha256').update(caBundle).digest('base64');
  return `${address} ${serverName} ${bundle} ${insecureSkipVerify === true}`;
}

function withHost(headers: readonly string[], { address, serverName }: OutboundCallTarget): readonly string[] {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === 'host') return headers;
  return ['Host', formatHostPort({ host: serverName, port: parseHostPort(address).port }), ...headers];
}

import { createHash } from 'node:crypto';
import { formatHostPort, parseHostPort } from '../../base/address.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { BodyTooLargeError } from '../../http/body-stream.js';
import { PooledDestination } from '../../http/client/pooled-destination.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { OnAbort } from '../../http/on-abort.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import type { ConnectionTls } from '../../http/tls/connection-tls.js';
import { wholeReply } from '../../http/whole-reply.js';
import type { OutboundAnswer, OutboundRequest, OutboundTarget } from './outbound.js';
import { OutboundCallError, outboundCallError } from './outbound-error.js';

/** Bound on servers with open connections; the least recently used one is dropped. */
const OUTBOUND_DESTINATIONS_MAX = 256;
/** Bound on the answer to a call (reviews, discovery, OpenAPI documents). */
const OUTBOUND_ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Short, because the timeouts of these servers are unknown; a `Keep-Alive` field replaces it. */
const KEEP_ALIVE_MS = 30_000;

interface OutboundCallsOptions {
  /** Returns the certificate of the `front-proxy` lane. Called again after `renew`. */
  readonly clientCertificate?: () => { readonly cert: string; readonly key: string } | undefined;
  readonly answerBytesMax?: number;
  readonly destinationsMax?: number;
  readonly clock?: Clock;
}

/**
 * Connections to servers that users name: webhooks and aggregated API servers. Redirects are never
 * followed: they would send a review, or a trusted identity, to a server that nobody named. All
 * methods reject with OutboundCallError.
 */
export class OutboundCalls {
  readonly #options: OutboundCallsOptions;
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #destinations = new Map<string, PooledDestination>();

  constructor(options: OutboundCallsOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Sends a request and reads the whole reply. `frontProxy` shows the front-proxy certificate. */
  async call(target: OutboundTarget, call: OutboundRequest, frontProxy = false): Promise<OutboundAnswer> {
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

  /** Sends a request; the body of the reply is a stream. */
  async send(target: OutboundTarget, request: OutgoingRequest): Promise<Reply> {
    return this.#translated(target, () => this.#destination(target).send(request));
  }

  /** Sends a request to switch protocols; a refusal is an ordinary reply. */
  async upgrade(target: OutboundTarget, request: OutgoingRequest): Promise<Reply> {
    return this.#translated(target, () => this.#destination(target).upgrade(request));
  }

  /** Called after a change of the front-proxy certificate: new connections use the new one. */
  renew(): void {
    for (const destination of this.#destinations.values()) destination.renewConnections();
    this.#destinations.clear();
  }

  async close(): Promise<void> {
    const all = [...this.#destinations.values()];
    this.#destinations.clear();
    await Promise.all(all.map((destination) => destination.close()));
  }

  async #translated(target: OutboundTarget, send: () => Promise<Reply>): Promise<Reply> {
    try {
      return await send();
    } catch (error) {
      throw outboundCallError(target.address, error);
    }
  }

  #destination(target: OutboundTarget): PooledDestination {
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
      // Requests in flight end normally; the connections close after them.
      destination.renewConnections();
    }
  }

  #tlsFor(target: OutboundTarget): ConnectionTls {
    const { caBundle, serverName, insecureSkipVerify } = target;
    if (
      caBundle !== undefined &&
      !insecureSkipVerify &&
      !/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(caBundle)
    ) {
      throw new OutboundCallError('tls', 'unable to load root certificates: unable to parse bytes as PEM block');
    }
    const clientCertificate = this.#options.clientCertificate?.();
    return {
      ca: insecureSkipVerify ? undefined : caBundle,
      servername: serverName,
      cert: clientCertificate?.cert,
      key: clientCertificate?.key,
      ...(insecureSkipVerify ? { insecureSkipVerify } : {}),
    };
  }
}

function keyOf({ address, serverName, caBundle, insecureSkipVerify }: OutboundTarget): string {
  const bundle = caBundle === undefined ? '' : createHash('sha256').update(caBundle).digest('base64');
  return `${address} ${serverName} ${bundle} ${insecureSkipVerify === true}`;
}

function withHost(headers: readonly string[], { address, serverName }: OutboundTarget): readonly string[] {
  if (headerValue(headers, 'host') !== undefined) return headers;
  return ['Host', formatHostPort({ host: serverName, port: parseHostPort(address).port }), ...headers];
}

import type { OnReadOpts } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { parseHostPort } from '../../base/address.js';
import { type ConnectionTls, clientTlsOptions } from '../tls/connection-tls.js';
import type { Reach } from './reach.js';

const TCP_KEEP_ALIVE_MS = 60_000;

export interface DiallerOptions {
  /** host:port, an IPv6 host in brackets */
  readonly address: string;
  readonly tls: ConnectionTls;
  /** Timeout for the TCP connection and the TLS handshake together. */
  readonly timeoutMs: number;
  /** ALPN protocols, the preferred one first. */
  readonly protocols: readonly string[];
  readonly reach: Reach | undefined;
}

/** Exactly one of the two is called, once, never within `dial` and not after `cancel`. */
export interface DialOutcome {
  opened(socket: TLSSocket): void;
  failed(error: Error): void;
}

export interface Dialling {
  cancel(): void;
}

/** Opens TLS connections to one server; each resumes the TLS session of the previous one. */
export class Dialler {
  readonly #options: DiallerOptions;
  readonly #target: ConnectionOptions;
  #context: SecureContext | undefined;
  #session: Buffer | undefined;

  constructor(options: DiallerOptions) {
    this.#options = options;
    const { host, port } = parseHostPort(options.address);
    const ALPNProtocols = [...options.protocols];
    this.#target = { ...clientTlsOptions(host, options.tls), host, port, ALPNProtocols };
  }

  dial(outcome: DialOutcome, onread?: OnReadOpts): Dialling {
    const dialling = new OneDialling(outcome, this.#options.timeoutMs);
    const { reach, address } = this.#options;
    if (!reach) {
      this.#begin(dialling, onread);
      return dialling;
    }
    reach.admit(address).then(
      () => this.#begin(dialling, onread),
      (error: Error) => dialling.fail(error),
    );
    return dialling;
  }

  open(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => this.dial({ opened: resolve, failed: reject }));
  }

  #begin(dialling: OneDialling, onread: OnReadOpts | undefined): void {
    if (dialling.over) return;
    let socket: TLSSocket;
    try {
      socket = this.#connect(onread);
    } catch (error) {
      process.nextTick(() => dialling.fail(error as Error));
      return;
    }
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on('session', this.#keepSession);
    dialling.begin(socket);
    const { reach, address } = this.#options;
    if (reach) socket.prependOnceListener('secureConnect', () => reach.opened(address, socket));
  }

  #connect(onread: OnReadOpts | undefined): TLSSocket {
    // Cached: parsing certificates is the most expensive step here.
    this.#context ??= createSecureContext(this.#target);
    return connect({
      ...this.#target,
      secureContext: this.#context,
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ...(onread === undefined ? {} : { onread }),
    });
  }

  /** Stores the TLS session; Node emits it only for verified connections. */
  #keepSession = (session: Buffer): void => {
    this.#session = session;
  };
}

class OneDialling implements Dialling {
  readonly #outcome: DialOutcome;
  readonly #timer: NodeJS.Timeout;
  #socket: TLSSocket | undefined;
  over = false;

  constructor(outcome: DialOutcome, timeoutMs: number) {
    this.#outcome = outcome;
    this.#timer = setTimeout(() => {
      this.fail(Object.assign(new Error('connection timeout'), { code: 'ETIMEDOUT' }));
    }, timeoutMs);
  }

  begin(socket: TLSSocket): void {
    this.#socket = socket;
    // Kept for the life of the socket: an error after a cancel or a failure is ignored, not thrown.
    socket.on('error', this.fail);
    socket.once('close', this.#onClose);
    socket.once('secureConnect', this.#onSecure);
  }

  cancel(): void {
    this.#finish();
    this.#socket?.destroy();
  }

  fail = (error: Error): void => {
    if (this.over) return;
    this.#finish();
    this.#socket?.destroy();
    this.#outcome.failed(error);
  };

  #onClose = (): void => {
    this.fail(Object.assign(new Error('connection reset by peer during the TLS handshake'), { code: 'ECONNRESET' }));
  };

  #onSecure = (): void => {
    if (this.over) return;
    this.#finish();
    const socket = this.#socket!;
    socket.off('close', this.#onClose);
    this.#outcome.opened(socket);
  };

  #finish(): void {
    this.over = true;
    clearTimeout(this.#timer);
  }
}

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { hostPortOf } from '../../../../base/address.js';
import type { Clock } from '../../../../base/clock.js';
import { type ConnectionTls, clientTlsOptions } from '../../../../http/tls/connection-tls.js';
import { GRPC, GrpcError } from './grpc-error.js';
import { FrameParser, frame } from './grpc-frames.js';

export interface GrpcLimits {
  readonly connectTimeoutMs: number;
  /** The largest message that is taken. */
  readonly messageBytesMax: number;
}

/** Opens the socket itself, because Node's HTTP/2 client does not report socket errors. */
function openSocket(url: URL, tls: ConnectionTls): Socket {
  const address = hostPortOf(url);
  if (url.protocol !== 'https:') return connectPlain({ ...address, noDelay: true });
  return connectTls({ ...clientTlsOptions(address.host, tls), ...address, ALPNProtocols: ['h2'] }).setNoDelay(true);
}

export type Metadata = Readonly<Record<string, string>>;

/** Flow-control window of a stream: bound on the bytes that a paused reader holds. */
const STREAM_WINDOW_BYTES = 2 ** 20;
const CONNECTION_WINDOW_BYTES = 16 * 2 ** 20;
/** etcd closes connections that send a ping more often than every five seconds. */
const PING_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 5_000;

/** One HTTP/2 connection to one etcd member. It does not reconnect. */
export class GrpcSession {
  readonly #http: ClientHttp2Session;
  readonly #clock: Clock;
  readonly #limits: GrpcLimits;
  #openStreams = 0;

  private constructor(http: ClientHttp2Session, clock: Clock, limits: GrpcLimits) {
    this.#http = http;
    this.#clock = clock;
    this.#limits = limits;
    http.on('error', () => {});
    http.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    this.#schedulePing();
  }

  static connect(endpoint: string, tls: ConnectionTls, clock: Clock, limits: GrpcLimits): Promise<GrpcSession> {
    return new Promise((resolve, reject) => {
      const socket = openSocket(new URL(endpoint), tls);
      const settings = { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false };
      const http = connect(endpoint, { createConnection: () => socket, settings });
      const fail = (cause: unknown) => {
        cancelTimer();
        http.destroy();
        const reason = cause instanceof Error ? cause.message : String(cause);
        reject(new GrpcError(GRPC.unavailable, `${endpoint} cannot be reached: ${reason}`, false, cause));
      };
      const cancelTimer = clock.after(limits.connectTimeoutMs, () =>
        fail(`no answer in ${limits.connectTimeoutMs} ms`),
      );
      http.once('error', fail);
      // Only the socket reports why a server closed after the handshake (no client certificate, for example).
      socket.on('error', fail);
      http.once('close', () => fail('closed'));
      http.once('remoteSettings', () => {
        cancelTimer();
        http.removeAllListeners('error');
        http.removeAllListeners('close');
        resolve(new GrpcSession(http, clock, limits));
      });
    });
  }

  get usable(): boolean {
    return !this.#http.closed && !this.#http.destroyed;
  }

  async unary(method: string, message: Uint8Array, metadata: Metadata, timeoutMs: number): Promise<Buffer> {
    const timeout = { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` };
    const call = this.open(method, { ...metadata, ...timeout });
    const cancelTimer = this.#clock.after(timeoutMs, () =>
      call.fail(new GrpcError(GRPC.deadlineExceeded, `no answer in ${Math.ceil(timeoutMs)} ms`, true)),
    );
    try {
      call.send(message, true);
      let answer: Buffer | undefined;
      for await (const part of call.messages()) answer = part;
      if (answer === undefined) throw new GrpcError(GRPC.unknown, 'the server answered nothing', true);
      return answer;
    } finally {
      cancelTimer();
    }
  }

  /** Lets open calls finish and refuses new ones. */
  retire(): void {
    if (this.usable) this.#http.close();
  }

  destroy(): void {
    this.#http.destroy();
  }

  open(method: string, metadata: Metadata): GrpcCall {
    if (!this.usable) throw new GrpcError(GRPC.unavailable, 'the connection is closed', false);
    const stream = this.#http.request({
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    this.#openStreams++;
    stream.once('close', () => this.#openStreams--);
    return new GrpcCall(stream, this.#limits.messageBytesMax);
  }

  /** Sends keep-alive pings: without them a watch on a member that vanished would wait for ever. */
  #schedulePing(): void {
    this.#clock.after(PING_INTERVAL_MS, () => {
      if (!this.usable) return;
      if (this.#openStreams > 0) {
        const cancelTimer = this.#clock.after(PING_TIMEOUT_MS, () => this.#http.destroy());
        this.#http.ping(() => cancelTimer());
      }
      this.#schedulePing();
    });
  }
}

/** One call: its messages in both directions and its status. */
export class GrpcCall {
  readonly #stream: ClientHttp2Stream;
  readonly #messageBytesMax: number;
  #headers: IncomingHttpHeaders = {};
  #trailers: IncomingHttpHeaders = {};
  #failure: GrpcError | undefined;

  constructor(stream: ClientHttp2Stream, messageBytesMax: number) {
    this.#stream = stream;
    this.#messageBytesMax = messageBytesMax;
    stream.on('response', (headers) => {
      this.#headers = headers;
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    stream.on('error', () => {});
  }

  send(message: Uint8Array, last = false): void {
    if (this.#stream.destroyed) return;
    if (last) this.#stream.end(frame(message));
    else this.#stream.write(frame(message));
  }

  /** Ends the call with this error unless it has ended. */
  fail(error: GrpcError): void {
    this.#failure ??= error;
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.destroy();
  }

  /** Yields the received messages with back-pressure. Throws GrpcError if the call failed. */
  async *messages(): AsyncGenerator<Buffer, void> {
    const parser = new FrameParser(this.#messageBytesMax);
    try {
      for await (const chunk of this.#stream) yield* parser.push(chunk as Buffer);
    } catch (error) {
      if (error instanceof GrpcError) this.#failure ??= error;
      else this.#failure ??= this.#broken(error);
    } finally {
      if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#checkStatus();
  }

  #broken(cause: unknown): GrpcError {
    const refused = this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new GrpcError(GRPC.unavailable, `the connection broke: ${reason}`, !refused, cause);
  }

  #checkStatus(): void {
    // A call that fails at once has its status in the headers instead of trailers.
    const fields = this.#trailers['grpc-status'] !== undefined ? this.#trailers : this.#headers;
    const status = fields['grpc-status'];
    if (status === undefined) {
      const http = String(this.#headers[':status'] ?? 'none');
      if (this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) throw this.#broken('refused');
      throw new GrpcError(GRPC.unavailable, `the connection ended without a status (HTTP status ${http})`, true);
    }
    if (Number(status) === GRPC.ok) return;
    throw new GrpcError(Number(status), decodeMessage(String(fields['grpc-message'] ?? '')), true);
  }
}

/** gRPC percent-encodes its messages. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import type { TLSSocket } from 'node:tls';
import { StatusError } from '../../kube/status-error.js';
import { AttemptError } from '../attempt-error.js';
import type { DeadlineSweep, Expiring } from './deadline-sweep.js';
import type { Dialler, Dialling } from './dialler.js';
import type { AttemptConnection, Http1Attempt } from './http1-attempt.js';
import { Http1ResponseParser } from './http1-response-parser.js';
import { StreamedBody } from './streamed-body.js';

/** Bodies up to this size are copied after the head, so that both are sent in one TLS record. */
const COPIED_BODY_BYTES_MAX = 16 * 1024;
/** Size of a TLS record: one read takes one record. */
const READ_BYTES = 16 * 1024;
/** Margin before the server's `Keep-Alive: timeout`, at which no request may be in flight. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** Owner of the connections (ConnectionPool). */
export interface ConnectionHome {
  readonly sweep: DeadlineSweep<Http1Connection>;
  readonly keepAliveMs: number;
  /** Called when the connection is idle and can take a request. */
  freed(connection: Http1Connection): void;
  /** The connection is closed. `unbegun` is a reserved request that needs another one. */
  lost(connection: Http1Connection, unbegun: Http1Attempt | undefined): void;
}

type State = 'dialling' | 'idle' | 'reserved' | 'busy' | 'closed';

/**
 * One TLS connection that serves one request at a time. Unsolicited bytes of the server close it.
 */
export class Http1Connection implements AttemptConnection, Expiring {
  deadlineAt = Number.POSITIVE_INFINITY;
  private readonly home: ConnectionHome;
  private readonly parser = new Http1ResponseParser();
  private state: State = 'dialling';
  private dialling: Dialling | undefined;
  private socket: TLSSocket | undefined;
  private attempt: Http1Attempt | undefined;
  private paused = false;
  private streamed: StreamedBody | undefined;

  constructor(home: ConnectionHome) {
    this.home = home;
  }

  /** Connects, then sends this request. */
  dial(dialler: Dialler, attempt: Http1Attempt): void {
    this.take(attempt);
    this.state = 'dialling';
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const onread = { buffer, callback: (bytes: number) => this.onRead(buffer, bytes) };
    this.dialling = dialler.dial({ opened: (socket) => this.onOpened(socket), failed: (e) => this.close(e) }, onread);
  }

  /** Reserves the connection; `begin` follows after pending socket events were handled. */
  reserve(attempt: Http1Attempt): void {
    this.take(attempt);
    this.state = 'reserved';
  }

  begin(): void {
    if (this.state !== 'reserved') return;
    if (this.socket!.destroyed) this.close();
    else this.write(this.attempt!);
  }

  drop(attempt: Http1Attempt): void {
    if (this.attempt !== attempt) return;
    this.attempt = undefined;
    // Nothing was written: the connection is idle again and keeps its keep-alive deadline.
    if (this.state === 'reserved' && this.deadlineAt !== Number.POSITIVE_INFINITY) this.rest();
    else this.close();
  }

  headCame(attempt: Http1Attempt): void {
    this.deadlineAt = Number.POSITIVE_INFINITY;
    // RFC 9112, 9.6: a server that refuses and closes stops reading; more data could reset the
    // connection before its reply is read.
    if (this.streamed && this.parser.status >= 400 && !this.parser.keepsAlive) this.stopSending(attempt);
  }

  pause(): void {
    this.paused = true;
    this.socket!.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.socket!.resume();
  }

  /** The deadline has passed: that of keep-alive, or that of a response head. */
  expire(): void {
    const { attempt, streamed } = this;
    if (this.state === 'idle') this.close();
    else if (streamed?.movedOn()) this.home.sweep.set(this, attempt!.request.headTimeoutMs);
    else if (this.state === 'busy') {
      // A client that stops sending its body must not hold resources for ever, nor count against
      // the server.
      this.close(
        streamed?.awaitsSender ? lateBody() : coded('timeout: no reply within the request timeout', 'ERR_HEAD_TIMEOUT'),
      );
    }
  }

  abandonWaiting(error: (begun: boolean) => Error): void {
    const { attempt } = this;
    if (attempt?.awaitsHead && attempt.request.hasAlternative?.(attempt.begun) !== false) {
      attempt.abandon(error(attempt.begun));
    }
  }

  /** Closes the connection in any state; resolves when the socket is closed. */
  destroy(why: string): Promise<void> {
    const { socket } = this;
    const gone =
      socket === undefined || socket.closed
        ? Promise.resolve()
        : new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const { attempt } = this;
    this.close(new AttemptError(attempt?.begun ? 'maybe' : 'unsent', 'closed', why));
    return gone;
  }

  private take(attempt: Http1Attempt): void {
    this.attempt = attempt;
    attempt.connection = this;
  }

  private onOpened(socket: TLSSocket): void {
    this.dialling = undefined;
    this.socket = socket;
    // Open requests keep the process alive (under-way.ts); the connection itself must not.
    socket.unref();
    socket.on('error', this.onError);
    socket.once('end', this.onEnd);
    socket.once('close', this.onClose);
    this.write(this.attempt!);
  }

  private write(attempt: Http1Attempt): void {
    const { head, request } = attempt;
    const { body } = request;
    const socket = this.socket!;
    this.state = 'busy';
    attempt.begun = true;
    this.parser.begin(attempt, request.method);
    this.home.sweep.set(this, request.headTimeoutMs);
    if (body === null || (body instanceof Uint8Array && body.byteLength === 0)) {
      socket.write(head.saysEmpty ? `${head.text}content-length: 0\r\n\r\n` : `${head.text}\r\n`, 'latin1');
    } else if (body instanceof Uint8Array) {
      this.writeWhole(head.text, body);
    } else {
      this.streamed = new StreamedBody(socket, body, head, this);
    }
  }

  private writeWhole(head: string, body: Uint8Array): void {
    const socket = this.socket!;
    const text = `${head}content-length: ${body.byteLength}\r\n\r\n`;
    if (body.byteLength <= COPIED_BODY_BYTES_MAX) {
      const all = Buffer.allocUnsafe(text.length + body.byteLength);
      all.write(text, 0, 'latin1');
      all.set(body, text.length);
      socket.write(all);
      return;
    }
    socket.cork();
    socket.write(text, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** The streamed body was written: the timeout for the response head starts. */
  bodySent(): void {
    this.streamed = undefined;
    if (this.attempt?.awaitsHead) this.home.sweep.set(this, this.attempt.request.headTimeoutMs);
  }

  bodyFailed(error: Error): void {
    this.close(error);
  }

  private onRead(bytes: Buffer, count: number): boolean {
    const { attempt } = this;
    if (this.state !== 'busy' || attempt === undefined) {
      this.close();
      return false;
    }
    let surplus: boolean;
    try {
      surplus = this.parser.execute(bytes, 0, count);
    } catch (error) {
      this.close(error as Error);
      return false;
    }
    if (this.attempt !== attempt) return true;
    if (this.parser.idle) this.answered(attempt, surplus);
    else attempt.flow();
    return true;
  }

  private answered(attempt: Http1Attempt, surplus: boolean): void {
    this.attempt = undefined;
    const { parser } = this;
    const keepMs = Math.min(
      this.home.keepAliveMs,
      (parser.keepAliveMs ?? Number.POSITIVE_INFINITY) - KEEP_ALIVE_MARGIN_MS,
    );
    // A server that replies before it has read the request may never read it, nor a request after
    // it.
    const unsent = this.streamed !== undefined || this.socket!.writableNeedDrain;
    const stays = parser.keepsAlive && attempt.head.keepsAlive && !surplus && !unsent && keepMs > 0;
    if (this.streamed) this.stopSending(attempt);
    if (stays) {
      this.home.sweep.set(this, keepMs);
      this.rest();
    } else this.close();
    attempt.complete();
  }

  private stopSending(attempt: Http1Attempt): void {
    this.streamed?.stop();
    const { body } = attempt.request;
    if (body !== null && !(body instanceof Uint8Array)) body.destroy();
  }

  private rest(): void {
    this.state = 'idle';
    // A paused socket would not report that the server closes the connection.
    this.resume();
    this.home.freed(this);
  }

  private onError = (error: Error): void => this.close(error);

  private onEnd = (): void => {
    const { attempt } = this;
    if (attempt && this.state === 'busy' && this.parser.finish() && this.attempt === attempt) {
      this.answered(attempt, false);
      return;
    }
    this.close(ended());
  };

  private onClose = (): void => this.close(ended());

  private close(error?: Error): void {
    if (this.state === 'closed') return;
    const { attempt } = this;
    const unbegun = this.state === 'reserved' && !(error instanceof AttemptError) ? attempt : undefined;
    this.state = 'closed';
    this.attempt = undefined;
    this.deadlineAt = Number.POSITIVE_INFINITY;
    this.parser.stop();
    this.streamed?.stop();
    this.dialling?.cancel();
    this.socket?.destroy();
    this.home.lost(this, unbegun);
    if (attempt && !unbegun) attempt.fail(error ?? ended());
  }
}

function ended(): Error {
  return coded('unexpected EOF: the server closed the connection', 'ERR_CONNECTION_ENDED');
}

function lateBody(): Error {
  return new StatusError('Timeout', "timeout: the rest of the request's body did not arrive in time");
}

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

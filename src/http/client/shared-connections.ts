import { type ClientHttp2Session, connect as connectHttp2, type Settings } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** Below the default of kube-apiserver; a lower limit of the server is respected. */
const STREAMS_PER_CONNECTION_MAX = 100;
/** Window of a stream: a slow reader takes no more of the connection's (head-of-line blocking). */
const STREAM_WINDOW_BYTES = 64 * 1024;
const CONNECTION_WINDOW_BYTES = (STREAMS_PER_CONNECTION_MAX + 1) * STREAM_WINDOW_BYTES;

export interface SharedConnectionsOptions {
  readonly origin: string;
  /** Opens a TLS connection that offers HTTP/2 and HTTP/1.1. */
  readonly dial: () => Promise<Duplex>;
  /** Timeout for the server's SETTINGS after the TLS handshake. */
  readonly greetingTimeoutMs: number;
  /** Time without streams after which a connection is closed. */
  readonly idleMs: number;
}

/** Capacity for one stream on a connection; `giveBack` takes effect once. */
export interface Place {
  readonly session: ClientHttp2Session;
  giveBack(): void;
}

interface Shared {
  readonly session: ClientHttp2Session;
  streamsMax: number;
  streams: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/**
 * HTTP/2 connections to one server, shared by many watches: a TLS connection costs 71 kB, a stream
 * on a shared connection 13 kB (docs/performance.md), and simultaneous events arrive in one read.
 */
export class SharedConnections {
  readonly #options: SharedConnectionsOptions;
  readonly #open = new Set<Shared>();
  #connecting: Promise<void> | undefined;
  #speaksOnlyHttp1 = false;
  #closed = false;

  constructor(options: SharedConnectionsOptions) {
    this.#options = options;
  }

  /** Returns undefined without HTTP/2. Rejects with the error of a failed connection. */
  async take(): Promise<Place | undefined> {
    for (;;) {
      if (this.#speaksOnlyHttp1 || this.#closed) return undefined;
      for (const shared of this.#open) if (shared.streams < shared.streamsMax) return this.#place(shared);
      this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = undefined;
      });
      await this.#connecting;
    }
  }

  /** Closes the connections after their open streams. */
  close(): void {
    this.#closed = true;
    for (const { session, idleTimer } of this.#open) {
      clearTimeout(idleTimer);
      session.close();
    }
    this.#open.clear();
  }

  destroy(error: Error): void {
    const open = [...this.#open];
    this.close();
    for (const { session } of open) session.destroy(error);
  }

  #place(shared: Shared): Place {
    shared.streams += 1;
    clearTimeout(shared.idleTimer);
    let held = true;
    return {
      session: shared.session,
      giveBack: () => {
        if (!held) return;
        held = false;
        shared.streams -= 1;
        if (shared.streams === 0) this.#closeWhenIdle(shared);
      },
    };
  }

  #closeWhenIdle(shared: Shared): void {
    shared.idleTimer = setTimeout(() => {
      this.#open.delete(shared);
      shared.session.close();
    }, this.#options.idleMs);
    shared.idleTimer.unref();
  }

  async #connect(): Promise<void> {
    const { origin, dial } = this.#options;
    const socket = await dial();
    if (this.#closed || (socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.destroy();
      this.#speaksOnlyHttp1 = !this.#closed;
      return;
    }
    const session = connectHttp2(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    const streamsMax = await this.#greeting(session);
    if (this.#closed || streamsMax === 0) {
      session.destroy();
      // A server that allows no streams would be dialled again and again.
      this.#speaksOnlyHttp1 = !this.#closed;
      return;
    }
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    const shared: Shared = { session, streamsMax, streams: 0, idleTimer: undefined };
    this.#open.add(shared);
    // Streams above the server's limit would wait unsent until others end.
    session.on('remoteSettings', (settings) => {
      shared.streamsMax = streamsTaken(settings);
    });
    const leave = () => {
      clearTimeout(shared.idleTimer);
      this.#open.delete(shared);
    };
    session.once('goaway', leave);
    session.once('close', leave);
  }

  /**
   * Waits for SETTINGS; returns the number of streams that the server allows on this connection.
   */
  #greeting(session: ClientHttp2Session): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        session.destroy(
          Object.assign(new Error('connection timeout: no HTTP/2 SETTINGS from the server'), { code: 'ETIMEDOUT' }),
        );
      }, this.#options.greetingTimeoutMs);
      // Kept for the life of the session: later errors are reported by the streams.
      session.on('error', reject);
      session.once('close', () =>
        reject(Object.assign(new Error('connection reset by peer before HTTP/2 SETTINGS'), { code: 'ECONNRESET' })),
      );
      session.once('remoteSettings', (settings) => {
        clearTimeout(late);
        resolve(streamsTaken(settings));
      });
      session.once('close', () => clearTimeout(late));
    });
  }
}

function streamsTaken({ maxConcurrentStreams }: Settings): number {
  return Math.min(STREAMS_PER_CONNECTION_MAX, maxConcurrentStreams ?? STREAMS_PER_CONNECTION_MAX);
}

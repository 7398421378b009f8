import { type ClientHttp2Session, connect as connectHttp2, type Settings } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** Below what kube-apiserver allows by default; a server that allows less is believed. */
const STREAMS_PER_CONNECTION_MAX = 100;
/** A reader that is slow holds no more than this of the connection, so that those beside it are not held back. */
const STREAM_WINDOW_BYTES = 64 * 1024;
const CONNECTION_WINDOW_BYTES = (STREAMS_PER_CONNECTION_MAX + 1) * STREAM_WINDOW_BYTES;

export interface SharedConnectionsOptions {
  readonly origin: string;
  /** Makes a TLS connection that offers HTTP/2 and HTTP/1.1. */
  readonly dial: () => Promise<Duplex>;
  /** For the server's first word after that. */
  readonly greetingTimeoutMs: number;
  /** A connection without streams is closed after this long. */
  readonly idleMs: number;
}

/** A place on a connection; given back once. */
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
 * HTTP/2 connections to one server that many watches share: a TLS connection of its own costs a watch some 60 kB, a
 * stream beside others a tenth of that, and events of one moment arrive in one read.
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

  /** Undefined where the server does not speak HTTP/2. Rejects as the connection that failed did. */
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

  /** What flows goes on; the connections close after it. */
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
      // One that takes no streams would be greeted again and again.
      this.#speaksOnlyHttp1 = !this.#closed;
      return;
    }
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    const shared: Shared = { session, streamsMax, streams: 0, idleTimer: undefined };
    this.#open.add(shared);
    // Streams beyond what it takes would wait unsent, for as long as the others last.
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

  /** How many streams the server takes on this connection. */
  #greeting(session: ClientHttp2Session): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        session.destroy(Object.assign(new Error('the server does not begin to speak'), { code: 'ETIMEDOUT' }));
      }, this.#options.greetingTimeoutMs);
      // Stays for the whole life: streams hear of it themselves.
      session.on('error', reject);
      session.once('close', () => reject(Object.assign(new Error('the server closed'), { code: 'ECONNRESET' })));
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

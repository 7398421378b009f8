import { randomBytes } from 'node:crypto';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { TestCertificate } from '../../src/http/tls/pki.fixture.js';

export interface Target {
  readonly port: number;
  readonly ca: string;
}

export interface ClientOptions {
  readonly as?: TestCertificate;
  readonly localAddress?: string;
}

function tlsOptions({ port, ca }: Target, { as, localAddress }: ClientOptions) {
  return {
    host: '127.0.0.1',
    port,
    ca,
    ...(as ? { cert: as.pem, key: as.keyPem } : {}),
    ...(localAddress === undefined ? {} : { localAddress }),
  };
}

/** An HTTP/2 connection; a window of 0 keeps every reply from being sent. */
export function http2Session(
  target: Target,
  options: ClientOptions & { windowBytes?: number } = {},
): ClientHttp2Session {
  const settings = options.windowBytes === undefined ? {} : { settings: { initialWindowSize: options.windowBytes } };
  const session = connectHttp2(`https://127.0.0.1:${target.port}`, { ...tlsOptions(target, options), ...settings });
  session.on('error', () => {});
  return session;
}

/** An HTTP/1.1 connection on which anything can be written. */
export async function http1Connection(target: Target, options: ClientOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ ...tlsOptions(target, options), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', () => resolve());
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
  return socket;
}

export interface Flood {
  /** Requests begun so far. */
  readonly begun: number;
  stop(): void;
}

const STREAMS_PER_CONNECTION = 245;
const CONNECTIONS = 4;
/** What the server ends is begun again after this time: these attacks hold things, they do not hammer. */
const REOPEN_MS = 1_000;

/**
 * Keeps 980 POSTs open whose bodies never come, of callers without credentials and with made-up tokens.
 */
export function bodilessPosts(target: Target, path: string): Flood {
  const sessions = new Set<ClientHttp2Session>();
  let begun = 0;
  let stopped = false;
  const post = (session: ClientHttp2Session, index: number): void => {
    if (stopped || session.closed || session.destroyed) return;
    begun += 1;
    const token = index % 2 === 0 ? {} : { authorization: `Bearer ${randomBytes(16).toString('hex')}` };
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/json', 'content-length': '10' };
    const stream = session.request({ ...head, ...token }, { endStream: false });
    stream.on('error', () => {});
    stream.on('close', () => setTimeout(() => post(session, index), REOPEN_MS));
    stream.resume();
  };
  const open = (): void => {
    if (stopped) return;
    const session = http2Session(target);
    sessions.add(session);
    session.once('connect', () => {
      for (let i = 0; i < STREAMS_PER_CONNECTION; i++) post(session, i);
    });
    session.once('close', () => {
      sessions.delete(session);
      setTimeout(open, REOPEN_MS);
    });
  };
  for (let i = 0; i < CONNECTIONS; i++) open();
  return {
    get begun() {
      return begun;
    },
    stop() {
      stopped = true;
      for (const session of sessions) session.destroy();
    },
  };
}

/** Opens connections without credentials as fast as the server takes them, and holds every one it gets. */
export function connectionFlood(target: Target, count: number): Flood {
  const sockets = new Set<TLSSocket>();
  let begun = 0;
  let stopped = false;
  const open = (): void => {
    if (stopped) return;
    begun += 1;
    const socket = connectTls({ ...tlsOptions(target, {}), ALPNProtocols: ['http/1.1'] });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('secureConnect', () =>
      socket.write('POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n'),
    );
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(open, REOPEN_MS);
    });
  };
  for (let i = 0; i < count; i++) open();
  return {
    get begun() {
      return begun;
    },
    stop() {
      stopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

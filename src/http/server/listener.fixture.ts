import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { type Agent, request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { systemClock } from '../../base/clock.js';
import type { LogFields, Logger } from '../../base/logger.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { BodyStream } from '../body-stream.js';
import type { Exchange, Handler, Reply } from '../exchange.js';
import { makeCa, makeServer } from '../tls/pki.fixture.js';
import { Listener, type ListenerLimits, type ListenerOptions } from './listener.js';

export const serverCa = makeCa('server-ca');
const serverCertificate = makeServer(serverCa);

const LIMITS: ListenerLimits = {
  headerBytesMax: 16 * 1024,
  headersCountMax: 100,
  authenticatedHead: { headerBytesMax: 256 * 1024, headersCountMax: 5_000 },
  largeHeadBytesMax: 4 * 1024 * 1024,
  headerTimeoutMs: 5_000,
  connectionsMax: 100,
  connectionsPerAddressMax: 100,
  streamsPerConnectionMax: 50,
  idleMs: 60_000,
  progressMs: 30_000,
};

/** HTTP/2 implementation under test: `src/http/http2` or `node:http2`. */
export type Http2By = 'own' | 'node';

type MoreOptions = Pick<ListenerOptions, 'certificateOwner' | 'onLimit'>;

export interface StartedListener {
  readonly port: number;
  readonly listener: Listener;
  readonly logged: { level: string; message: string; fields: LogFields }[];
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts a listener on a free port. Exchanges get their request info as in the chain, then go to
 * `handler`.
 */
export async function startListener(
  handler: Handler,
  limits: Partial<ListenerLimits> = {},
  http2: Http2By = 'own',
  more: MoreOptions = {},
): Promise<StartedListener> {
  const { listener, logged } = makeListener(handler, limits, http2, more);
  const { port } = await listener.listen();
  return { port, listener, logged, close: (graceMs = 0) => listener.close(graceMs) };
}

/**
 * Starts a listener without a port: another server accepts the connections and passes them to
 * `take`.
 */
export async function startTakingListener(
  handler: Handler,
  limits: Partial<ListenerLimits> = {},
  http2: Http2By = 'own',
): Promise<StartedListener> {
  const { listener, logged } = makeListener(handler, limits, http2);
  const door = createTcp({ pauseOnConnect: true }, (socket) => listener.take(socket));
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const close = async (graceMs = 0): Promise<void> => {
    await listener.close(graceMs);
    door.close();
  };
  return { port: (door.address() as AddressInfo).port, listener, logged, close };
}

function makeListener(handler: Handler, limits: Partial<ListenerLimits>, http2: Http2By, more: MoreOptions = {}) {
  const logged: StartedListener['logged'] = [];
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    tls: { cert: serverCertificate.pem, key: serverCertificate.keyPem, clientCas: [] },
    limits: { ...LIMITS, ...limits },
    handler: (exchange) => {
      exchange.info = parseRequestInfo(exchange.method, exchange.target) ?? exchange.info;
      return handler(exchange);
    },
    clock: systemClock,
    logger: recordingLogger(logged),
    http2,
    ...more,
  });
  return { listener, logged };
}

export function recordingLogger(logged: StartedListener['logged']): Logger {
  const log =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void logged.push({ level, message, fields });
  const logger: Logger = {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: () => logger,
  };
  return logger;
}

export function text(body: string, status = 200, headers: readonly string[] = []): Reply {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: ['Content-Type', 'text/plain', 'Content-Length', String(bytes.byteLength), ...headers],
    body: bytes,
  };
}

/** Returns a streamed reply whose body the test writes. */
export function streamed(status = 200, headers: readonly string[] = ['Content-Type', 'application/json']) {
  const seen = { paused: 0, resumed: 0, cancelled: undefined as Error | undefined };
  const body = new BodyStream({
    pause: () => void seen.paused++,
    resume: () => void seen.resumed++,
    cancel: (error) => {
      seen.cancelled = error;
    },
  });
  return { reply: { status, headers, body } satisfies Reply, body, seen };
}

export async function readRequest(exchange: Exchange): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of exchange.body ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: Record<string, unknown>;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: Buffer | string;
  readonly agent?: Agent;
}

export function ask1(
  port: number,
  { method = 'GET', path = '/', headers = {}, body, agent }: Ask = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { port, host: '127.0.0.1', ca: serverCa.pem, method, path, headers, agent: agent ?? false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks),
            trailers: response.trailers,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export function session2(port: number): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: serverCa.pem });
  session.on('error', () => {});
  return session;
}

export function ask2(session: ClientHttp2Session, { method = 'GET', path = '/', headers = {}, body }: Ask = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined });
    const chunks: Buffer[] = [];
    let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    let trailers: Record<string, unknown> = {};
    stream.on('response', (fields) => {
      head = fields;
    });
    stream.on('trailers', (fields) => {
      trailers = fields;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () =>
      resolve({ status: head[':status'] ?? 0, headers: head, body: Buffer.concat(chunks), trailers }),
    );
    if (body !== undefined) stream.end(body);
  });
}

/** Opens a TLS connection for raw bytes. */
export async function rawConnection(
  port: number,
  localAddress?: string,
): Promise<{ socket: TLSSocket; received(): string; closed: Promise<void> }> {
  const from = localAddress === undefined ? {} : { localAddress };
  const socket = connectTls({ port, host: '127.0.0.1', ca: serverCa.pem, ALPNProtocols: ['http/1.1'], ...from });
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  return { socket, received: () => received, closed };
}

/** Writes bytes and returns all bytes received until the server closes the connection. */
export async function rawExchange(port: number, bytes: string): Promise<string> {
  const { socket, received, closed } = await rawConnection(port);
  socket.write(Buffer.from(bytes, 'latin1'));
  await closed;
  return received();
}

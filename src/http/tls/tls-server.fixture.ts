import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import type { Readable } from 'node:stream';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { readBody } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import type { OutgoingRequest } from '../outgoing.js';
import type { ConnectionTls } from './connection-tls.js';
import { makeCa, makeClient, makeServer } from './pki.fixture.js';

export const ca = makeCa('control-plane');
export const otherCa = makeCa('someone-else');
/** Verified by name only, as a kube-apiserver that is dialled by address. */
const server = makeServer(ca, { dnsNames: ['kubernetes.default.svc'], ipAddresses: [] });
const client = makeClient(ca, { cn: 'front-proxy-client' });

export const tls: ConnectionTls = {
  ca: ca.pem,
  servername: 'kubernetes.default.svc',
  cert: client.pem,
  key: client.keyPem,
};

export interface TlsServer {
  readonly address: string;
  readonly requests: IncomingMessage[];
  readonly connections: Set<Socket>;
  readonly http: HttpServer;
  close(): Promise<void>;
}

export async function serveTls(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<TlsServer> {
  const requests: IncomingMessage[] = [];
  const http = createServer(
    { cert: server.pem, key: server.keyPem, ca: ca.pem, requestCert: true, rejectUnauthorized: false },
    (req, res) => {
      requests.push(req);
      res.on('error', () => {});
      handler(req, res);
    },
  );
  return { ...(await listening(http)), requests, http };
}

export interface ScriptedServer {
  readonly address: string;
  readonly connections: Set<Socket>;
  /** Every connection there was, in order. */
  readonly sockets: TLSSocket[];
  /** What came on all of them. */
  received(): string;
  close(): Promise<void>;
}

/** A TLS server that says whatever a test tells it to: `onData` is called with all that came on a connection so far. */
export async function serveScript(
  onData: (socket: TLSSocket, received: string) => void,
  protocol = 'http/1.1',
): Promise<ScriptedServer> {
  const sockets: TLSSocket[] = [];
  const texts = new Map<TLSSocket, string>();
  const listener = createTls({ cert: server.pem, key: server.keyPem, ALPNProtocols: [protocol] }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      texts.set(socket, (texts.get(socket) ?? '') + data.toString('latin1'));
      onData(socket, texts.get(socket)!);
    });
  });
  listener.on('tlsClientError', () => {});
  return { ...(await listening(listener)), sockets, received: () => [...texts.values()].join('') };
}

/** Takes connections and does with them whatever a test says, TLS or not. */
export async function serveTcp(onConnection: (socket: Socket) => void) {
  return listening(
    createTcp((socket) => {
      socket.on('error', () => {});
      onConnection(socket);
    }),
  );
}

async function listening(listener: TcpServer) {
  const connections = new Set<Socket>();
  listener.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    connections,
    close: () =>
      new Promise<void>((resolve) => {
        listener.close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  };
}

/** An address where nobody listens. */
export async function closedAddress(): Promise<string> {
  const { address, close } = await serveTcp(() => {});
  await close();
  return address;
}

/** A request and a way for its caller to leave. */
export function outgoing(more: Partial<OutgoingRequest> & { body?: Readable | Uint8Array | null } = {}) {
  const listeners = new Set<() => void>();
  const request: OutgoingRequest = {
    method: 'GET',
    target: '/',
    headers: ['Host', 'client.example'],
    body: null,
    lane: 'plain',
    headTimeoutMs: 0,
    onAbort: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ...more,
  };
  const leave = () => {
    for (const listener of [...listeners]) listener();
  };
  return { request, listeners, leave };
}

export async function textOf(reply: Reply): Promise<string> {
  return (await readBody(reply.body, 64 * 1024 * 1024)).toString();
}

export function peerName(req: IncomingMessage): string | undefined {
  return (req.socket as TLSSocket).getPeerCertificate().subject?.CN?.toString();
}

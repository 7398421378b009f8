import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Pki } from '../pki.js';
import { SpdyConnection, type SpdyStream } from './spdy.js';
import { WebSocketConnection, websocketAccept } from './websocket.js';

/** One exec that arrived. */
export interface ExecRecord {
  readonly protocol: 'spdy' | 'websocket';
  readonly path: string;
  readonly command: readonly string[];
  /** The client certificate's common name: kubelets know kube-apiservers, not users. */
  readonly client: string;
}

export interface TestKubelet {
  readonly address: string;
  readonly port: number;
  readonly execs: readonly ExecRecord[];
  close(): Promise<void>;
}

/** The "container": says what it was started with, then gives back what it is told, and ends with exit code 0. */
interface Shell {
  stdout(bytes: Buffer): void;
  exit(): void;
}

const SUCCESS = Buffer.from(JSON.stringify({ metadata: {}, status: 'Success' }));
const WEBSOCKET_PROTOCOL = 'v5.channel.k8s.io';
const SPDY_PROTOCOL = 'v4.channel.k8s.io';
const CHANNEL = { stdin: 0, stdout: 1, error: 3, close: 255 } as const;

/** An HTTPS server that speaks the kubelet's exec protocols, SPDY/3.1 and WebSocket. */
export async function startTestKubelet(address: string, pki: Pki): Promise<TestKubelet> {
  const { certPem, keyPem } = pki.ca.issue('test-kubelet', {
    commonName: 'system:node:test-kubelet',
    hosts: [address],
  });
  const execs: ExecRecord[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer({ cert: certPem, key: keyPem, ca: pki.ca.certPem, requestCert: true });
  server.on('request', (_, response) => response.writeHead(404).end());
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (head.length > 0) socket.unshift(head);
    accept(request, socket, execs);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    address,
    port: (server.address() as AddressInfo).port,
    execs,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function accept(request: IncomingMessage, socket: Duplex, execs: ExecRecord[]): void {
  const url = new URL(request.url ?? '/', 'https://kubelet');
  const protocol = request.headers.upgrade?.toLowerCase() === 'websocket' ? 'websocket' : 'spdy';
  const command = url.searchParams.getAll('command');
  const client = (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN;
  execs.push({ protocol, path: url.pathname, command, client: String(client) });
  const greeting = Buffer.from(`ran ${command.join(' ')}\n`);
  const wantsInput = url.searchParams.get('input') === '1';
  if (protocol === 'websocket') overWebSocket(request, socket, greeting, wantsInput);
  else overSpdy(socket, greeting, { wantsInput, streams: countStreams(url) });
}

/** Error stream, and one for each that was asked for. */
function countStreams(url: URL): number {
  return 1 + ['input', 'output', 'error'].filter((name) => url.searchParams.get(name) === '1').length;
}

function overSpdy(socket: Duplex, greeting: Buffer, options: { wantsInput: boolean; streams: number }): void {
  switchProtocols(socket, { Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': SPDY_PROTOCOL });
  const byType = new Map<string, SpdyStream>();
  const shell: Shell = {
    stdout: (bytes) => {
      const stream = byType.get('stdout');
      if (stream) connection.send(stream, bytes);
    },
    exit: () => {
      for (const [type, stream] of byType) {
        connection.send(stream, type === 'error' ? SUCCESS : Buffer.alloc(0), true);
      }
    },
  };
  const connection = new SpdyConnection(socket, {
    stream: (stream) => {
      byType.set(stream.headers['streamtype'] ?? '', stream);
      if (byType.size < options.streams) return;
      shell.stdout(greeting);
      if (!options.wantsInput) shell.exit();
    },
    data: (stream, bytes) => {
      if (stream === byType.get('stdin')) shell.stdout(bytes);
    },
    finished: (stream) => {
      if (stream === byType.get('stdin')) shell.exit();
    },
  });
}

function overWebSocket(request: IncomingMessage, socket: Duplex, greeting: Buffer, wantsInput: boolean): void {
  switchProtocols(socket, {
    Upgrade: 'websocket',
    'Sec-WebSocket-Accept': websocketAccept(String(request.headers['sec-websocket-key'])),
    'Sec-WebSocket-Protocol': WEBSOCKET_PROTOCOL,
  });
  const on = (channel: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([channel]), bytes]);
  const shell: Shell = {
    stdout: (bytes) => connection.send(on(CHANNEL.stdout, bytes)),
    exit: () => {
      connection.send(on(CHANNEL.error, SUCCESS));
      connection.close();
    },
  };
  const connection = new WebSocketConnection(socket, (message) => {
    const [channel, closed] = message;
    if (channel === CHANNEL.stdin) shell.stdout(message.subarray(1));
    else if (channel === CHANNEL.close && closed === CHANNEL.stdin) shell.exit();
  });
  shell.stdout(greeting);
  if (!wantsInput) shell.exit();
}

function switchProtocols(socket: Duplex, headers: Readonly<Record<string, string>>): void {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
}

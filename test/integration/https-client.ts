import { type Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import type { TestCertificate } from '../../src/http/tls/pki.fixture.js';

/** Where a server listens on 127.0.0.1, and the authority (PEM) its certificate is from. */
export interface Where {
  readonly port: number;
  readonly ca: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly raw: Buffer;
  json<T = Record<string, unknown>>(): T;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  /** Text and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly as?: TestCertificate;
  /** Connections to use again; without it each request has its own. */
  readonly agent?: Agent;
}

export interface SeenEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

function connection({ port, ca }: Where, as: TestCertificate | undefined) {
  return { host: '127.0.0.1', port, ca, agent: false as const, ...(as ? { cert: as.pem, key: as.keyPem } : {}) };
}

export function bodyBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** One request; a status is an answer, never an error. */
export function ask(where: Where, path: string, options: Ask = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, as, agent = false } = options;
  const sent = body === undefined ? undefined : bodyBytes(body);
  const type = sent ? { 'Content-Type': 'application/json', 'Content-Length': String(sent.byteLength) } : {};
  return new Promise<Answer>((resolve, reject) => {
    const sending = { ...connection(where, as), agent, path, method, headers: { ...type, ...headers } };
    const asked = request(sending, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const raw = Buffer.concat(chunks);
        const text = (res.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
        resolve({ status: res.statusCode!, headers: res.headers, raw, text, json: () => JSON.parse(text) });
      });
    });
    asked.on('error', reject);
    asked.end(sent);
  });
}

/** Opens a watch; `events` grows, `ended` resolves with whether the server ended it in order. */
export function watch(where: Where, path: string, as?: TestCertificate) {
  const events: SeenEvent[] = [];
  let rest = '';
  const req = request({ ...connection(where, as), path });
  const ended = new Promise<boolean>((resolve) => {
    req.on('error', () => resolve(false));
    req.on('response', (res) => {
      res.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop()!;
        events.push(...lines.map((line) => JSON.parse(line)));
      });
      res.on('error', () => resolve(false));
      res.on('close', () => resolve(res.complete));
    });
  });
  const opened = new Promise<number>((resolve) => req.on('response', (res) => resolve(res.statusCode!)));
  req.end();
  return { events, ended, opened, leave: () => req.destroy() };
}

/** Bytes as no HTTP library would send them; resolves with all that came back until the server closed. */
export function sendRaw(where: Where, bytes: string, as?: TestCertificate): Promise<string> {
  return new Promise((resolve, reject) => {
    const { agent: _, ...options } = connection(where, as);
    const socket = connectTls({ ...options, ALPNProtocols: ['http/1.1'] }, () => socket.write(bytes, 'latin1'));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)));
    socket.on('close', () => resolve(received));
  });
}

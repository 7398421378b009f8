import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import * as https from 'node:https';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { KeyPair } from './pki.js';

/** Target and credentials of a request. Without credentials it is anonymous. */
export interface Endpoint {
  readonly url: string;
  readonly ca: string;
  readonly clientCert?: Pick<KeyPair, 'certPem' | 'keyPem'>;
  readonly token?: string;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | object;
  readonly timeoutMs?: number;
  readonly agent?: https.Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON; throws with the body's beginning when it is none. */
  json<T = KubeObject>(): T;
}

export interface KubeObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind, looked into by the scenarios
  readonly [field: string]: any;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject;
}

const TIMEOUT_MS = 20_000;

export function keepAliveAgent(connectionsMax: number): https.Agent {
  return new https.Agent({ keepAlive: true, maxSockets: connectionsMax });
}

/** One HTTP/1.1 request, answered whole. A status is an answer, never an error. */
export async function call(endpoint: Endpoint, path: string, options: Call = {}): Promise<Answer> {
  const response = await send(endpoint, path, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const text = body.toString('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    text,
    json<T>() {
      try {
        return JSON.parse(text) as T;
      } catch {
        throw new Error(`${path}: not JSON (status ${response.statusCode}): ${text.slice(0, 200)}`);
      }
    },
  };
}

/** A watch that is read event by event. It ends when the server ends it or when `close` is called. */
export interface Watch {
  readonly status: number;
  readonly events: AsyncGenerator<WatchEvent>;
  close(): void;
}

export async function openWatch(endpoint: Endpoint, path: string, options: Call = {}): Promise<Watch> {
  const response = await send(endpoint, path, { timeoutMs: 10 * 60_000, ...options });
  return { status: response.statusCode ?? 0, events: readEvents(response), close: () => response.destroy() };
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<WatchEvent> {
  let rest = '';
  for await (const chunk of response) {
    rest += (chunk as Buffer).toString('utf8');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent;
  }
}

function send(endpoint: Endpoint, path: string, call: Call): Promise<IncomingMessage> {
  const body = typeof call.body === 'object' ? JSON.stringify(call.body) : call.body;
  const headers: Record<string, string | string[]> = { accept: 'application/json', ...call.headers };
  if (body !== undefined) {
    headers['content-type'] ??= 'application/json';
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  if (endpoint.token !== undefined) headers['authorization'] = `Bearer ${endpoint.token}`;
  const options: RequestOptions = {
    method: call.method ?? 'GET',
    headers,
    ca: endpoint.ca,
    agent: call.agent ?? false,
    signal: AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS),
    ...(endpoint.clientCert && { cert: endpoint.clientCert.certPem, key: endpoint.clientCert.keyPem }),
  };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(new URL(path, endpoint.url), options, resolve);
    request.once('error', reject);
    request.end(body);
  });
}

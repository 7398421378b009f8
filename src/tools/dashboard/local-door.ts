import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { HttpsConnection } from '../https/https-connection.js';

export interface LocalDoorOptions {
  /** The way to a Straddle. Its credentials are those of whoever runs the command. */
  readonly connection: Pick<HttpsConnection, 'open'>;
  /** Read for each request. */
  readonly credentials: () => Readonly<Record<string, string>>;
  /** 0: any free one. */
  readonly port: number;
}

/** Paths that are passed on; nothing else of the API is within reach of the browser. */
const PASSED_ON = /^\/straddle\/(?:api\/v1\/(?:state|stream)|assets\/[A-Za-z0-9][\w.-]*)?$/;
const OPEN_PREFIX = '/open/';
const REQUEST_FIELDS = ['accept', 'if-none-match'] as const;
const REPLY_FIELDS = [
  ...['content-type', 'content-length', 'cache-control', 'etag', 'retry-after', 'x-accel-buffering'],
  ...['content-security-policy', 'x-content-type-options', 'referrer-policy', 'x-frame-options'],
  ...['cross-origin-resource-policy', 'cross-origin-opener-policy'],
] as const;
const HOST = '127.0.0.1';
const CONNECTIONS_MAX = 64;
/** Bytes of entropy of the token and of the cookie. */
const SECRET_BYTES = 32;
const HEAD_BYTES_MAX = 16 * 1024;

/**
 * A port of this machine that passes requests for the page on to a Straddle, with the credentials of whoever runs it, for one
 * browser: a token that is valid once becomes a cookie. Other users of the machine have neither, pages of other sites do not get
 * the cookie sent, and names that a DNS server points here are refused by the Host field.
 */
export class LocalDoor {
  readonly #options: LocalDoorOptions;
  readonly #server: Server;
  readonly #token = secret();
  readonly #cookie = secret();
  #isOpened = false;
  #port = 0;

  constructor(options: LocalDoorOptions) {
    this.#options = options;
    this.#server = createServer({ maxHeaderSize: HEAD_BYTES_MAX }, (request, response) => {
      this.#answer(request, response);
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Resolves with the address for the browser, which works once. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, HOST, resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://${HOST}:${this.#port}${OPEN_PREFIX}${this.#token}`;
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.#refusalOf(request);
    const path = (request.url ?? '').split('?', 1)[0]!;
    if (refusal) refuse(response, ...refusal);
    else if (path.startsWith(OPEN_PREFIX)) this.#open(request, path, response);
    else if (!this.#hasCookie(request)) {
      refuse(response, 403, 'This browser has not opened the address that `straddle dashboard` printed.');
    } else if (path === '/' || path === '/straddle') toPage(response, []);
    else if (PASSED_ON.test(path)) void this.#passOn(request, path, response);
    else refuse(response, 404, 'Only the page of Straddle is here.');
  }

  #refusalOf({ method, headers }: IncomingMessage): readonly [status: number, text: string] | undefined {
    const names = [`${HOST}:${this.#port}`, `localhost:${this.#port}`];
    if (headers.host === undefined || !names.includes(headers.host)) {
      return [421, `This is ${names[0]}, and no other name.`];
    }
    if (method !== 'GET' && method !== 'HEAD') return [405, 'The page is for reading only.'];
    return undefined;
  }

  /** The token becomes a cookie once; the same browser may come here again. */
  #open(request: IncomingMessage, path: string, response: ServerResponse): void {
    const isToken = !this.#isOpened && isEqual(path.slice(OPEN_PREFIX.length), this.#token);
    if (!isToken && !this.#hasCookie(request)) {
      refuse(response, 403, 'This address works once. Run `straddle dashboard` again.');
      return;
    }
    // Browsers ask for the head of an address before they show it.
    if (request.method === 'GET') this.#isOpened = true;
    const cookie = `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
    toPage(response, request.method === 'GET' ? [cookie] : []);
  }

  /** Cookies are shared by the ports of a host. */
  get #cookieName(): string {
    return `straddle-dashboard-${this.#port}`;
  }

  #hasCookie({ headers }: IncomingMessage): boolean {
    const prefix = `${this.#cookieName}=`;
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return pairs.some((pair) => pair.startsWith(prefix) && isEqual(pair.slice(prefix.length), this.#cookie));
  }

  async #passOn(request: IncomingMessage, path: string, response: ServerResponse): Promise<void> {
    const { connection, credentials } = this.#options;
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    try {
      const headers = { ...pick(request.headers, REQUEST_FIELDS), ...credentials() };
      const reply = await connection.open({ method: request.method!, target: path, headers }, ended.signal);
      response.writeHead(reply.statusCode ?? 502, pick(reply.headers, REPLY_FIELDS));
      response.flushHeaders();
      pipeline(reply, response, () => {});
    } catch (error) {
      if (!ended.signal.aborted) refuse(response, 502, `The Straddle does not answer: ${(error as Error).message}`);
    }
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isEqual(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

function pick(
  headers: IncomingMessage['headers'],
  names: readonly (keyof IncomingMessage['headers'] & string)[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

const OWN_FIELDS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A page, not a redirect: after one that another site began, a browser does not send the cookie. */
function toPage(response: ServerResponse, cookies: readonly string[]): void {
  response.writeHead(200, {
    ...OWN_FIELDS,
    'content-type': 'text/html; charset=utf-8',
    ...(cookies.length === 0 ? {} : { 'set-cookie': [...cookies] }),
  });
  response.end('<!doctype html><meta http-equiv="refresh" content="0;url=/straddle/"><title>Straddle</title>\n');
}

function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { ...OWN_FIELDS, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

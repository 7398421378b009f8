import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { rawPath } from '../../base/target.js';
import type { HttpsConnection } from '../https/https-connection.js';

export interface LocalDoorOptions {
  /** The way to a Straddle. Its credentials are those of whoever runs the command. */
  readonly connection: Pick<HttpsConnection, 'open'>;
  /** Read for each request. */
  readonly credentials: () => Readonly<Record<string, string>>;
  /** 0: any free one. */
  readonly port: number;
  /** The door is shut, because somebody without the cookie came with the token after it had been used: one of the two is a thief. */
  readonly onSecondOpening: () => void;
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
/** Browsers take names under `localhost` for both, and try either first: the same port of both must be this process. */
const ADDRESSES = ['127.0.0.1', '::1'] as const;
/** Ports that are tried until one is free at both addresses. */
const PORTS_TRIED_MAX = 16;
/** Of each address. */
const CONNECTIONS_MAX = 64;
/** Bytes of entropy of the token and of the cookie. */
const SECRET_BYTES = 32;
/** Bytes of entropy of the host name; a label of a name has at most 63 characters. */
const NAME_BYTES = 16;
const HEAD_BYTES_MAX = 16 * 1024;

/**
 * A port of this machine that passes requests for the page on to a Straddle, with the credentials of whoever runs it, for one
 * browser: a token that is valid once becomes a cookie. Other users of the machine have neither. Browsers send a cookie to all
 * ports of a host, which may be those of other users, so the host has a name that nobody else knows; the Host field is checked
 * against it, which also refuses names that a DNS server points here.
 */
export class LocalDoor {
  readonly #options: LocalDoorOptions;
  readonly #token = secret();
  readonly #cookie = secret();
  /** Browsers resolve names under `localhost` themselves, to the loopback addresses. */
  readonly #name = `${randomBytes(NAME_BYTES).toString('hex')}.localhost`;
  #servers: readonly Server[] = [];
  #isOpened = false;
  #isShut = false;
  #port = 0;
  /** As browsers name it in requests: without the port that is usual. */
  #host: string | undefined;

  constructor(options: LocalDoorOptions) {
    this.#options = options;
  }

  /** Resolves with the address for the browser, which works once. */
  async listen(): Promise<string> {
    for (let tried = 1; ; tried++) {
      try {
        await this.#listenAtBoth();
        const address = new URL(`http://${this.#name}:${this.#port}${OPEN_PREFIX}${this.#token}`);
        this.#host = address.host;
        return address.href;
      } catch (error) {
        await this.close();
        const mayTryAgain = this.#options.port === 0 && tried < PORTS_TRIED_MAX;
        if (!mayTryAgain || codeOf(error) !== 'EADDRINUSE') throw error;
      }
    }
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    await Promise.all(
      servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      ),
    );
  }

  async #listenAtBoth(): Promise<void> {
    const [first, second] = ADDRESSES;
    this.#port = await this.#listenAt(first, this.#options.port);
    try {
      await this.#listenAt(second, this.#port);
    } catch (error) {
      // A machine without IPv6: nobody else can listen there either.
      if (codeOf(error) !== 'EADDRNOTAVAIL' && codeOf(error) !== 'EAFNOSUPPORT') throw error;
    }
  }

  /** Resolves with the port. */
  async #listenAt(address: string, port: number): Promise<number> {
    const server = createServer({ maxHeaderSize: HEAD_BYTES_MAX }, (request, response) => {
      this.#answer(request, response);
    });
    server.maxConnections = CONNECTIONS_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    this.#servers = [...this.#servers, server];
    return (server.address() as AddressInfo).port;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.#refusalOf(request);
    const path = rawPath(request.url ?? '');
    if (refusal) refuse(response, ...refusal);
    else if (path.startsWith(OPEN_PREFIX)) this.#open(request, path, response);
    else if (!this.#hasCookie(request)) {
      refuse(response, 403, 'This browser has not opened the address that `straddle dashboard` printed.');
    } else if (path === '/' || path === '/straddle') toPage(response, []);
    else if (PASSED_ON.test(path)) void this.#passOn(request, path, response);
    else refuse(response, 404, 'Only the page of Straddle is here.');
  }

  #refusalOf({ method, headers, url = '' }: IncomingMessage): readonly [status: number, text: string] | undefined {
    // The name itself is for nobody who does not know it.
    if (headers.host === undefined || headers.host !== this.#host) {
      return [421, 'Open the address that `straddle dashboard` printed, with the name that is in it.'];
    }
    if (this.#isShut) return [403, 'This address was opened twice. Run `straddle dashboard` again.'];
    if (method !== 'GET' && method !== 'HEAD') return [405, 'The page is for reading only.'];
    if (isOfOtherSite(headers) && !(headers['sec-fetch-mode'] === 'navigate' && isNavigable(url))) {
      return [403, 'Pages of other sites may not read this one.'];
    }
    return undefined;
  }

  /** The token becomes a cookie once; the same browser may come here again. */
  #open(request: IncomingMessage, path: string, response: ServerResponse): void {
    const isToken = isEqual(path.slice(OPEN_PREFIX.length), this.#token);
    if (!this.#hasCookie(request)) {
      if (!isToken) {
        refuse(response, 403, 'This is not the address that `straddle dashboard` printed.');
        return;
      }
      if (this.#isOpened) {
        this.#shut(response);
        return;
      }
    }
    // Browsers ask for the head of an address before they show it.
    if (request.method === 'GET') this.#isOpened = true;
    const cookie = `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
    toPage(response, request.method === 'GET' ? [cookie] : []);
  }

  /** Nobody can tell which of the two was the right one, so neither may go on. */
  #shut(response: ServerResponse): void {
    this.#isShut = true;
    refuse(response, 403, 'This address works once, and was opened before. Run `straddle dashboard` again.');
    response.once('close', () => {
      for (const server of this.#servers) server.closeAllConnections();
      this.#options.onSecondOpening();
    });
  }

  /** Cookies of a host do not belong to a port. */
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

/** Browsers say so themselves, whatever the page wants; a missing field is that of another program. */
function isOfOtherSite(headers: IncomingMessage['headers']): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

/** Returns whether a person may come here from another site, as by a link or the file that `straddle dashboard` gives to the browser. */
function isNavigable(url: string): boolean {
  const path = rawPath(url);
  return path.startsWith(OPEN_PREFIX) || path === '/' || path === '/straddle' || path === '/straddle/';
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
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

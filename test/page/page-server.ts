import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { PageState } from '../../src/proxy/page/page-state.js';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'";
const TYPES: Readonly<Record<string, string>> = { 'assets/app.js': 'text/javascript', 'assets/app.css': 'text/css' };
const BUILT = new URL('../../dist/page/', import.meta.url);

/** As the server of the product does. */
const ALIVE_EVERY_MS = 1_000;

/** What the server writes for browsers without scripts. */
export const WITHOUT_SCRIPT = 'Written by the server';

const SHELL = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Straddle</title><link rel="stylesheet" href="assets/app.css"><script type="module" src="assets/app.js"></script></head>
<body><div id="app"></div><main id="verdict"><h1>${WITHOUT_SCRIPT}</h1></main></body></html>`;

/** Serves what `npm run build` made, with the policy of the product, and a state that the test changes. */
export class PageServer {
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #asked: string[] = [];
  #state: PageState;
  #port = 0;
  /** Without: the stream is answered 404, as by a proxy in between that does not pass it. */
  hasStream = true;
  /** Of the state and the stream, if it is not 200. */
  status = 200;

  constructor(state: PageState) {
    this.#state = state;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/straddle/`;
  }

  /** Paths that were asked for, oldest first. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Ends everything; `listen` comes back at the same port. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Changes the state without a word to open streams. */
  replace(state: PageState): void {
    this.#state = state;
  }

  send(name: string, data: unknown): void {
    for (const stream of this.#streams) stream.write(eventText(name, data));
  }

  /** Changes sections and sends them. */
  change(changes: Partial<PageState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const [name, data] of Object.entries(changes)) this.send(name, data);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.#asked.push(path);
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const name = path.replace('/straddle/', '');
    if (path === '/straddle/') this.#text(response, 200, 'text/html; charset=utf-8', SHELL);
    else if (TYPES[name] !== undefined)
      this.#text(response, 200, TYPES[name], readFileSync(fileURLToPath(new URL(name.replace('assets/', ''), BUILT))));
    else if (path.startsWith('/straddle/api/') && this.status !== 200)
      this.#text(response, this.status, 'text/plain', '');
    else if (name === 'api/v1/state') this.#text(response, 200, 'application/json', JSON.stringify(this.#state));
    else if (name === 'api/v1/stream' && this.hasStream) this.#stream(response);
    else this.#text(response, 404, 'text/plain', '');
  }

  #text(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
    response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
    response.end(body);
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    this.#streams.add(response);
    // The page takes a stream that is silent for seconds for one whose end was not heard.
    const alive = setInterval(() => response.write(eventText('alive', {})), ALIVE_EVERY_MS);
    response.on('close', () => {
      clearInterval(alive);
      this.#streams.delete(response);
    });
    response.write(eventText('state', this.#state));
  }
}

function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

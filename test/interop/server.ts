import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BodyStream } from '../../src/http/body-stream.js';
import type { Exchange, Reply } from '../../src/http/exchange.js';
import {
  readRequest,
  type StartedListener,
  serverCa,
  startListener,
  text,
} from '../../src/http/server/listener.fixture.js';
import type { ListenerLimits } from '../../src/http/server/listener.js';

const LIMITS: Partial<ListenerLimits> = { streamsPerConnectionMax: 100, headerBytesMax: 256 * 1024 };

const CHUNK_BYTES = 16 * 1024;
const FIELD_BYTES = 1_000;
const ANSWER_LATER_MS = 30;

/** Replies with different framing, chosen by the path. */
const ANSWERS: Readonly<Record<string, (server: InteropServer, exchange: Exchange, rest: string) => Promise<Reply>>> = {
  '': async () => text('ok'),
  /** So many bytes in one piece. */
  size: async (_server, _exchange, rest) => bytesReply(pattern(Number(rest))),
  /** So many bytes piece by piece, with back-pressure. */
  stream: async (_server, _exchange, rest) => streamed(pattern(Number(rest))),
  /** The request body, streamed back. */
  echo: async (_server, exchange) => echoed(exchange),
  /** Length and hash of the request's body, after a while: h2spec wants to send more before it is answered. */
  later: async (_server, exchange) => {
    const body = await readRequest(exchange);
    await delay(ANSWER_LATER_MS);
    return text(digestOf(body));
  },
  /** Length and hash of the request's body. */
  digest: async (_server, exchange) => text(digestOf(await readRequest(exchange))),
  trailers: async (_server, exchange) => {
    await readRequest(exchange);
    return streamed(Buffer.from('body'), ['x-checksum', '42', 'x-last', 'yes']);
  },
  /** Headers of so many bytes. */
  headers: async (_server, _exchange, rest) => text('ok', 200, largeFields(Number(rest))),
  /** Length and hash of the values of the request's `x-part-…` headers, in the order they came. */
  'header-digest': async (_server, { headers }) => {
    const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1]!.startsWith('x-part-'));
    return text(digestOf(Buffer.from(values.join(''))));
  },
  status: async (_server, _exchange, rest) =>
    Number(rest) === 204 ? { status: 204, headers: [], body: null } : text(`status ${rest}`, Number(rest)),
  /** Waits until the test releases it. */
  hold: (server, _exchange, rest) => server.hold(rest),
  /** Never ends by itself. */
  endless: async (server) => server.endless(),
  /** Breaks off in the middle. */
  broken: async () => broken(),
  /** The fault of a handler. */
  throws: async () => {
    throw new Error('a fault that a case asked for');
  },
};

/** The TLS listener with the HTTP/2 server of `src/http/http2`, and a handler for the cases. */
export class InteropServer {
  readonly caFile: string;
  readonly #dir = mkdtempSync(join(tmpdir(), 'straddle-interop-'));
  readonly #held = new Map<string, { arrived: PromiseWithResolvers; released: PromiseWithResolvers }>();
  #started: StartedListener | undefined;
  #cancelled = 0;

  constructor() {
    this.caFile = this.file('ca.pem', serverCa.pem);
  }

  async start(): Promise<void> {
    this.#started = await startListener((exchange) => this.#answer(exchange), LIMITS);
  }

  get port(): number {
    return this.#started!.port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** Endless answers that their clients gave up. */
  get cancelledAnswers(): number {
    return this.#cancelled;
  }

  get connectionCount(): number {
    return this.#started!.listener.connectionCount;
  }

  file(name: string, content: string | Uint8Array): string {
    const path = join(this.#dir, name);
    writeFileSync(path, content);
    return path;
  }

  /** Resolves when the request `/hold/<name>` is under way. */
  arrived(name: string): Promise<void> {
    return this.#holdOf(name).arrived.promise;
  }

  release(name: string): void {
    this.#holdOf(name).released.resolve();
  }

  async hold(name: string): Promise<Reply> {
    const { arrived, released } = this.#holdOf(name);
    arrived.resolve();
    await released.promise;
    return text(`held ${name}`);
  }

  endless(): Reply {
    const body = new BodyStream({
      pause: () => {},
      resume: () => body.push(Buffer.alloc(CHUNK_BYTES)),
      cancel: () => {
        this.#cancelled++;
      },
    });
    // More than the windows of any client take, so that it is paused and asked to go on.
    for (let i = 0; i < 64; i++) body.push(Buffer.alloc(CHUNK_BYTES));
    return { status: 200, headers: [], body };
  }

  /** Begins a shutdown: GOAWAY, and requests under way are served. Resolves when the last connection is closed. */
  drain(graceMs: number): Promise<void> {
    return this.#started!.close(graceMs);
  }

  /** Faults that the listener logged, besides the one that a case asks for. */
  faults(): string[] {
    const errors = this.#started!.logged.filter(({ level }) => level === 'error' || level === 'warn');
    return errors.filter(({ fields }) => fields['target'] !== '/throws').map(({ message }) => message);
  }

  async close(): Promise<void> {
    await this.#started?.close(0);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #answer(exchange: Exchange): Promise<Reply> {
    const [name, rest = ''] = exchange.target.slice(1).split('/') as [string, string?];
    const answer = ANSWERS[name];
    if (!answer) return text('no such case', 404);
    try {
      return await answer(this, exchange, rest);
    } catch (error) {
      // A client that leaves in the middle of its request is no fault; nobody gets this answer.
      if (exchange.aborted) return text('the client left', 400);
      throw error;
    }
  }

  #holdOf(name: string): { arrived: PromiseWithResolvers; released: PromiseWithResolvers } {
    let held = this.#held.get(name);
    if (!held) {
      held = { arrived: withResolvers(), released: withResolvers() };
      this.#held.set(name, held);
    }
    return held;
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  resolve(): void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** The same bytes for the same length, with no period that a frame or a window has. */
export function pattern(bytes: number): Buffer {
  const made = Buffer.allocUnsafe(bytes);
  for (let i = 0; i < bytes; i++) made[i] = (i ^ (i >> 8) ^ (i >> 16)) & 0xff;
  return made;
}

export function digestOf(bytes: Uint8Array): string {
  return `${bytes.byteLength} ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Headers of so many bytes in all, as raw pairs. Huffman coding saves 3 bits of 8 at most: 27 kB need CONTINUATION. */
export function largeFields(bytes: number): string[] {
  const fields: string[] = [];
  for (let left = bytes, i = 0; left > 0; left -= FIELD_BYTES, i++) {
    fields.push(`x-part-${i}`, `${i}.${pattern(FIELD_BYTES).toString('hex')}`.slice(0, FIELD_BYTES));
  }
  return fields;
}

function bytesReply(body: Buffer): Reply {
  return { status: 200, headers: ['Content-Length', String(body.byteLength), 'X-Digest', digestOf(body)], body };
}

function streamed(bytes: Buffer, trailers: readonly string[] = []): Reply {
  let at = 0;
  let paused = true;
  const pump = (): void => {
    paused = false;
    while (!paused && at < bytes.byteLength) {
      at += CHUNK_BYTES;
      body.push(bytes.subarray(at - CHUNK_BYTES, at));
    }
    if (at >= bytes.byteLength) body.end(trailers);
  };
  const body = new BodyStream({
    pause: () => {
      paused = true;
    },
    resume: pump,
    cancel: () => {
      at = bytes.byteLength;
    },
  });
  // After the head is written, as from a server that is further away.
  setImmediate(pump);
  const announced = trailers.filter((_, i) => i % 2 === 0).join(', ');
  return {
    status: 200,
    headers: ['X-Digest', digestOf(bytes), ...(announced === '' ? [] : ['Trailer', announced])],
    body,
  };
}

function echoed({ body: request }: Exchange): Reply {
  if (!request) return { status: 200, headers: [], body: null };
  const body = new BodyStream({
    pause: () => request.pause(),
    resume: () => request.resume(),
    cancel: () => request.destroy(),
  });
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.once('end', () => body.end());
  request.once('error', (error) => body.fail(error));
  return { status: 200, headers: [], body };
}

function broken(): Reply {
  const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
  setImmediate(() => {
    body.push(Buffer.from('the beginning'));
    setImmediate(() => body.fail(new Error('the server behind went away')));
  });
  return { status: 200, headers: [], body };
}

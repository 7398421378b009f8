import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a running control plane can be asked to do, by whoever may open its folder. */
export interface Steering {
  /** Resolves with how many servers were replaced. */
  roll(order: RollOrder, progress: (sentence: string) => void): Promise<number>;
}

export interface RollOrder {
  readonly to: string;
  readonly server?: string;
}

/** One line of an answer. */
type Line = { readonly progress: string } | { readonly done: number } | { readonly error: string };

/** A Unix socket's path has room for 107 bytes. */
const PATH_BYTES_MAX = 100;
const ORDER_BYTES_MAX = 4_096;
const ANSWER_BYTES_MAX = 1024 * 1024;

export function controlSocketPath(dataDir: string): string {
  const inside = join(dataDir, 'control.sock');
  if (Buffer.byteLength(inside) <= PATH_BYTES_MAX) return inside;
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(tmpdir(), `straddle-${name}.sock`);
}

/** Whether a control plane runs on that folder. */
export function isSteered(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false);
  return new Promise((resolve) => {
    request({ socketPath: path, path: '/', timeout: 2_000 })
      .once('response', (response) => {
        response.resume();
        resolve(true);
      })
      .once('error', () => resolve(false))
      .once('timeout', () => resolve(true))
      .end();
  });
}

/** Takes orders at the socket until it is closed. One at a time. */
export class ControlSocket {
  readonly #path: string;
  readonly #server: Server;
  #busy = false;

  constructor(path: string, steering: Steering) {
    this.#path = path;
    this.#server = createServer((incoming, answer) => void this.#take(incoming, answer, steering));
  }

  async listen(): Promise<void> {
    // Whoever left it there does not answer any more: that was asked before.
    rmSync(this.#path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      const mask = process.umask(0o177);
      this.#server.listen(this.#path, resolve);
      process.umask(mask);
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #take(incoming: IncomingMessage, answer: ServerResponse, steering: Steering): Promise<void> {
    const say = (line: Line): void => void answer.write(`${JSON.stringify(line)}\n`);
    answer.on('error', () => {});
    if (incoming.method !== 'POST' || incoming.url !== '/roll') return void answer.end('{}\n');
    if (this.#busy) {
      say({ error: 'Servers are being replaced already; wait for that to end.' });
      return void answer.end();
    }
    this.#busy = true;
    try {
      const order = orderOf(await readText(incoming, ORDER_BYTES_MAX));
      say({ done: await steering.roll(order, (progress) => say({ progress })) });
    } catch (error) {
      say({ error: (error as Error).message });
    } finally {
      this.#busy = false;
      answer.end();
    }
  }
}

/** Sends the order and resolves with how many servers were replaced. Rejects with what the control plane says. */
export function sendRoll(path: string, order: RollOrder, progress: (sentence: string) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(new Error('The control plane ended before all was done.'));
    const asked = request({ socketPath: path, method: 'POST', path: '/roll' }, (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop()!;
        if (rest.length > ANSWER_BYTES_MAX) return void asked.destroy();
        for (const text of lines) {
          const line = JSON.parse(text) as Line;
          if ('progress' in line) progress(line.progress);
          else if ('done' in line) resolve(line.done);
          else reject(new Error(line.error));
        }
      });
      response.once('error', cut);
      response.once('end', cut);
    });
    asked.once('error', reject);
    asked.end(JSON.stringify(order));
  });
}

function orderOf(text: string): RollOrder {
  const order: unknown = JSON.parse(text);
  if (typeof order !== 'object' || order === null) throw new Error('That is no order.');
  const { to, server } = order as { to?: unknown; server?: unknown };
  if (typeof to !== 'string' || (server !== undefined && typeof server !== 'string'))
    throw new Error('An order has a version `to`, and may have a `server`.');
  return { to, ...(server === undefined ? {} : { server }) };
}

async function readText(incoming: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error(`An order has at most ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

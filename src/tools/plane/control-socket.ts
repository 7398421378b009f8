import { existsSync, mkdtempSync, readlinkSync, realpathSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { RollOrder } from './roll.js';

/** The orders that a running control plane takes from every process that may open its data directory. */
export interface Steering {
  /** Resolves with the number of servers replaced. */
  roll(order: RollOrder, progress: (sentence: string) => void): Promise<number>;
}

/** What is said to whoever gives no order. */
interface Greeting {
  /** Its real path. */
  readonly dataDir: string;
}

/** One line of a reply. */
type Line = { readonly progress: string } | { readonly done: number } | { readonly error: string };

/** The path of a Unix socket has at most 107 bytes. */
const PATH_BYTES_MAX = 100;
const ORDER_BYTES_MAX = 4_096;
const FOLDER_BYTES_MAX = 8_192;
const LOOK_TIMEOUT_MS = 2_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Returns where the control plane of a data directory listens, if one runs. A data directory whose path leaves no room
 * for a socket has a symbolic link to a socket in a private folder instead.
 */
export function controlSocketPath(dataDir: string): string {
  const inside = join(dataDir, SOCKET_FILE);
  return fits(inside) ? inside : (linkTarget(inside) ?? inside);
}

const SOCKET_FILE = 'control.sock';
const FOLDER_PREFIX = 'straddle-';

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= PATH_BYTES_MAX;
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Returns whether a path is one that `listen` may have made; a data directory of others may have a link to any file. */
function isOwnSocket(path: string): boolean {
  const folder = dirname(path);
  return (
    path === join(folder, SOCKET_FILE) && dirname(folder) === tmpdir() && basename(folder).startsWith(FOLDER_PREFIX)
  );
}

/** Removes a socket and the folder that was made for it; a folder that holds anything else stays. */
function removeWithFolder(path: string): void {
  rmSync(path, { force: true });
  try {
    rmdirSync(dirname(path));
  } catch {
    // In use for something else, or gone already.
  }
}

/** Returns whether a control plane listens at the socket. */
export function isSteered(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request({ socketPath: path, path: '/', timeout: LOOK_TIMEOUT_MS })
      .once('response', (response) => {
        response.resume();
        resolve(true);
      })
      .on('error', () => resolve(false))
      .once('timeout', () => {
        resolve(true);
        asked.destroy();
      });
    asked.end();
  });
}

/**
 * Returns the real path of a data directory on which a control plane of this user runs; undefined without one. Whoever made
 * the folder may have put anything there, such as a link to the socket of another program or of another control plane.
 */
export async function steeredFolder(dataDir: string): Promise<string | undefined> {
  const path = controlSocketPath(dataDir);
  try {
    const found = statSync(path);
    if (!found.isSocket() || found.uid !== process.getuid?.()) return undefined;
    const real = realpathSync(dataDir);
    return (await folderSaidAt(path)) === real ? real : undefined;
  } catch {
    return undefined;
  }
}

function folderSaidAt(path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    request({ socketPath: path, path: '/', signal }, (response) => {
      readText(response, FOLDER_BYTES_MAX)
        .then((text) => resolve((JSON.parse(text) as Greeting).dataDir))
        .catch(reject);
    })
      .on('error', reject)
      .end();
  });
}

/** Takes orders at the socket until it is closed, one at a time. */
export class ControlSocket {
  /** Path in the data directory of the socket, or of a link to it. */
  readonly #inside: string;
  readonly #dataDir: string;
  #greeting: Greeting | undefined;
  readonly #server: Server;
  #folder: string | undefined;
  #busy = false;

  constructor(dataDir: string, steering: Steering) {
    this.#inside = join(dataDir, SOCKET_FILE);
    this.#dataDir = dataDir;
    this.#server = createServer((incoming, answer) => void this.#take(incoming, answer, steering));
  }

  /** Replaces the socket of an earlier process, which the caller has found dead. */
  async listen(): Promise<void> {
    this.#greeting = { dataDir: realpathSync(this.#dataDir) };
    const left = linkTarget(this.#inside);
    if (left !== undefined && isOwnSocket(left)) removeWithFolder(left);
    rmSync(this.#inside, { force: true });
    if (fits(this.#inside)) return this.#bind(this.#inside);
    // A random name in a private folder: no other user can create the path first.
    this.#folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
    const path = join(this.#folder, SOCKET_FILE);
    await this.#bind(path);
    symlinkSync(path, this.#inside);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    if (this.#folder === undefined) return;
    const path = join(this.#folder, SOCKET_FILE);
    if (linkTarget(this.#inside) === path) rmSync(this.#inside);
    removeWithFolder(path);
  }

  #bind(path: string): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      const mask = process.umask(0o177);
      this.#server.listen(path, resolve);
      process.umask(mask);
    });
  }

  async #take(incoming: IncomingMessage, answer: ServerResponse, steering: Steering): Promise<void> {
    const say = (line: Line): void => void answer.write(`${JSON.stringify(line)}\n`);
    answer.on('error', () => {});
    if (incoming.method !== 'POST' || incoming.url !== '/roll')
      return void answer.end(`${JSON.stringify(this.#greeting)}\n`);
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

/** Sends an order; resolves with the number of servers replaced. */
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

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * The other processes that have the same store open. After a commit each is nudged over a local socket to look at the
 * log; a nudge carries nothing, so a lost or repeated one does no harm, and those that get none look now and then.
 *
 * Every process listens on a socket file of its own in the directory, then connects to all that it finds there. A
 * connection serves both ways. Whoever comes later connects to whoever came earlier, so all are joined.
 */
export class Neighbours {
  readonly #dir: string;
  readonly #onNudge: () => void;
  readonly #name = `${process.pid}-${randomBytes(4).toString('hex')}.sock`;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #connectedNames = new Set<string>();
  #dirHandle: number | undefined;
  #closed = false;

  constructor(dir: string, onNudge: () => void) {
    this.#dir = dir;
    this.#onNudge = onNudge;
    this.#server = createServer((socket) => this.#adopt(socket));
    this.#server.unref();
  }

  /** Resolves to whether nudges can be received; if not, the caller must look at the store often. */
  async join(): Promise<boolean> {
    // Under another name until it listens: a socket that refuses is taken for a dead one and removed.
    const draftName = `${this.#name}${DRAFT}`;
    const listening = await new Promise<boolean>((resolve) => {
      this.#server.once('error', () => resolve(false));
      this.#server.listen(this.#reachable(draftName), () => resolve(true));
    });
    if (listening) renameSync(join(this.#dir, draftName), join(this.#dir, this.#name));
    this.#server.on('error', () => {});
    await this.rescan();
    return listening;
  }

  /** Connects to those not connected yet. Needed only after a connection was lost. */
  async rescan(): Promise<void> {
    const names = await readdir(this.#dir).catch(() => []);
    if (this.#closed) return;
    await Promise.all(names.filter((name) => name.endsWith(DRAFT)).map((name) => this.#removeIfStale(name)));
    const unknown = names.filter(
      (name) => name.endsWith('.sock') && name !== this.#name && !this.#connectedNames.has(name),
    );
    await Promise.all(unknown.map((name) => this.#connect(name)));
  }

  nudge(): void {
    for (const socket of this.#sockets) {
      // A nudge still unsent will be read after this commit, and so covers it.
      if (socket.writableLength === 0) socket.write(NUDGE);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) {
      removeFile(join(this.#dir, this.#name));
      await new Promise((resolve) => this.#server.close(resolve));
    }
    if (this.#dirHandle !== undefined) closeSync(this.#dirHandle);
  }

  #connect(name: string): Promise<void> {
    this.#connectedNames.add(name);
    return new Promise((resolve) => {
      const socket = createConnection(this.#reachable(name));
      socket.once('connect', () => {
        this.#adopt(socket);
        resolve();
      });
      socket.once('error', (error: NodeJS.ErrnoException) => {
        // Nobody listens behind the file: its process was killed.
        if (error.code === 'ECONNREFUSED') removeFile(join(this.#dir, name));
        resolve();
      });
      socket.once('close', () => this.#connectedNames.delete(name));
    });
  }

  #adopt(socket: Socket): void {
    if (this.#closed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.unref();
    socket.setNoDelay(true);
    socket.on('data', this.#onNudge);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
    // What was committed while the two were not joined.
    this.#onNudge();
  }

  /** A process killed before it listened leaves its draft behind; nobody needs that long to begin listening. */
  async #removeIfStale(name: string): Promise<void> {
    const path = join(this.#dir, name);
    const made = await stat(path).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > DRAFT_MS_MAX) removeFile(path);
  }

  /** Socket addresses are short. On Linux a long path can be reached through an open directory. */
  #reachable(name: string): string {
    const path = join(this.#dir, name);
    if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX || process.platform !== 'linux') return path;
    this.#dirHandle ??= openSync(this.#dir, 'r');
    return `/proc/self/fd/${this.#dirHandle}/${name}`;
  }
}

const DRAFT = '.draft';
const DRAFT_MS_MAX = 60_000;
const NUDGE = Buffer.of(1);
/** The smallest limit among the systems that have such sockets (macOS: 104 with the closing zero). */
const SOCKET_PATH_BYTES_MAX = 100;

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already: another process was faster.
  }
}

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * The other processes that have the same store open. After a commit each gets a nudge over a local
 * socket, upon which it reads the log. A nudge has no content: a lost or repeated one does no harm,
 * because every process also polls.
 *
 * Every process listens on a socket file in the directory, then connects to all others there. A
 * connection is used in both directions. A later process connects to all earlier ones, so all are joined.
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

  /** Resolves to whether nudges can be received; if not, the caller must poll the store often. */
  async join(): Promise<boolean> {
    // Under another name until it listens: others remove a socket that refuses connections.
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

  /** Connects to processes that are not connected. Needed only after a connection was lost. */
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
      // A nudge that is still unsent will be read after this commit.
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
        // The process of the socket file was killed.
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
    // For commits before the two were connected.
    this.#onNudge();
  }

  /** Removes the draft of a process that was killed before it listened. */
  async #removeIfStale(name: string): Promise<void> {
    const path = join(this.#dir, name);
    const made = await stat(path).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > DRAFT_MS_MAX) removeFile(path);
  }

  /** Socket paths have a limit. On Linux a longer path can be reached through an open directory. */
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
/** Below the smallest limit of all systems (macOS: 104 with the final zero). */
const SOCKET_PATH_BYTES_MAX = 100;

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Removed by another process.
  }
}

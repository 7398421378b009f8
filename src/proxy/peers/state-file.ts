import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A file that is replaced atomically: after a crash at any moment it has the old text or the new
 * one. Writes are sequential; of several requested during a write only the last is carried out.
 */
export class StateFile {
  readonly #path: string;
  readonly #bytesMax: number;
  #next: (() => string) | undefined;
  #running: Promise<void> | undefined;

  constructor(path: string, bytesMax: number) {
    this.#path = path;
    this.#bytesMax = bytesMax;
  }

  /** Returns the text, or undefined if the file does not exist. */
  async read(): Promise<string | undefined> {
    try {
      const { size } = await stat(this.#path);
      if (size > this.#bytesMax) throw new Error(`${this.#path} is larger than ${this.#bytesMax} bytes`);
      return await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file. `make` is called when the write starts, to serialise the present state. */
  write(make: () => string): Promise<void> {
    this.#next = make;
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #drain(): Promise<void> {
    for (let make = this.#next; make; make = this.#next) {
      this.#next = undefined;
      await this.#replace(make());
    }
  }

  async #replace(text: string): Promise<void> {
    if (Buffer.byteLength(text) > this.#bytesMax) throw new Error(`state would be larger than ${this.#bytesMax} bytes`);
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const draft = `${this.#path}.${process.pid}.new`;
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#path);
    // The rename must survive a power failure too: sync the folder.
    const folder = await open(dirname(this.#path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

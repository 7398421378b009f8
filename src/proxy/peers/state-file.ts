import { open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../base/make-folder.js';

/**
 * A file that is replaced atomically: after a crash at any moment it has the old text or the new
 * one. Writes are sequential; of several requested during a write only the last is carried out.
 */
export class StateFile {
  readonly #path: string;
  readonly #bytesMax: number;
  #next: (() => string | undefined) | undefined;
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

  /**
   * Replaces the file. `make` is called when the write starts, to serialise the present state; undefined removes the file.
   * Settles when no write is left, and rejects if the last one failed.
   */
  write(make: () => string | undefined): Promise<void> {
    this.#next = make;
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #drain(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (let make = this.#next; make; make = this.#next) {
      this.#next = undefined;
      failure = undefined;
      try {
        await this.#carryOut(make());
      } catch (error) {
        failure = { error };
      }
    }
    if (failure) throw failure.error;
  }

  async #carryOut(text: string | undefined): Promise<void> {
    if (text !== undefined) await this.#replace(text);
    else if (!(await this.#remove())) return;
    await this.#syncFolder();
  }

  async #replace(text: string): Promise<void> {
    if (Buffer.byteLength(text) > this.#bytesMax) throw new Error(`state would be larger than ${this.#bytesMax} bytes`);
    makeFolder(dirname(this.#path));
    const draft = `${this.#path}.${process.pid}.new`;
    try {
      await writeDraft(draft, text);
      await rename(draft, this.#path);
    } catch (error) {
      // On a full disk, what was written of it would take room until the next write.
      await unlink(draft).catch(() => {});
      throw error;
    }
  }

  /** Returns false if there is no file. */
  async #remove(): Promise<boolean> {
    try {
      await unlink(this.#path);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return false;
      throw error;
    }
  }

  /** Makes a rename or a removal survive a power failure. */
  async #syncFolder(): Promise<void> {
    const folder = await open(dirname(this.#path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

async function writeDraft(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

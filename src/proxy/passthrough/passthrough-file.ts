import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import { StateFile } from '../peers/state-file.js';
import { readableLine } from './passthrough.js';

export interface PassthroughFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after the file appeared, disappeared, or changed its content; never for this process's own writes. */
  readonly onChange: (seen: SeenFile) => void;
}

export type SeenFile =
  | { readonly exists: false }
  | { readonly exists: true; readonly changedAtMs: number; readonly reason: string };

/** Interval of looks at the file. File systems over a network do not announce changes. */
const LOOK_EVERY_MS = 200;
/** Timeout of the look before the start: a file system that hangs must not keep a server from its start. */
const FIRST_LOOK_MS_MAX = 1_000;
/** Time after which a look that has no result is logged. */
const SLOW_LOOK_MS = 2_000;
const WRITE_MS_MAX = 2_000;
/** Bytes of the file that are read as the reason. */
const REASON_BYTES_MAX = 1_024;

const ABSENT: SeenFile = { exists: false };

/**
 * The file that switches passthrough on by its existence, for operators on the machine. At most one look and one write are
 * under way at any time, so that a file system that hangs holds two threads of the pool at most, and no request waits.
 */
export class PassthroughFile {
  readonly #options: PassthroughFileOptions;
  readonly #file: StateFile;
  readonly #looks: RepeatedTask;
  readonly #complaints = new OncePerSubject();
  /**
   * What the last look found; the switch follows changes of the file, not its presence, because a write may fail. Undefined
   * before the first look that succeeds, which may follow an order to switch.
   */
  #last: string | undefined;
  #writes = 0;
  /** Increases with the begin and the end of each write: a look across one saw neither state for certain. */
  #epoch = 0;

  constructor(options: PassthroughFileOptions) {
    this.#options = options;
    this.#file = new StateFile(options.path, REASON_BYTES_MAX);
    this.#looks = new RepeatedTask({ clock: options.clock, run: () => this.#look(), pauseMs: () => LOOK_EVERY_MS });
  }

  get path(): string {
    return this.#options.path;
  }

  /** Looks once, then goes on looking. Resolves after the first look, or after a timeout. Never rejects. */
  async start(): Promise<void> {
    const { clock, logger, path } = this.#options;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(FIRST_LOOK_MS_MAX, () => {
        logger.warn('timeout: the passthrough file cannot be looked at; starting with passthrough off', { file: path });
        resolve();
      });
      void this.#looks.now().then(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Writes the reason, or removes the file. Resolves with undefined, or with why the file is not as wanted. */
  async write(reason: string | undefined): Promise<string | undefined> {
    const { clock, path } = this.#options;
    const stamp = reason === undefined ? ABSENT_STAMP : OWN_STAMP;
    this.#writes += 1;
    this.#epoch += 1;
    const written = this.#file
      .write(() => (reason === undefined ? undefined : `${reason}\n`))
      .then(
        () => {
          this.#last = stamp;
          return undefined;
        },
        (error: NodeJS.ErrnoException) => `${path} cannot be written (${error.code ?? error.message})`,
      )
      .finally(() => {
        this.#writes -= 1;
        this.#epoch += 1;
      });
    let cancel = () => {};
    const late = new Promise<string>((resolve) => {
      cancel = clock.after(WRITE_MS_MAX, () => resolve(`timeout: ${path} was not written in ${WRITE_MS_MAX} ms`));
    });
    return Promise.race([written, late]).finally(cancel);
  }

  /** Ends the looks. One that hangs is not waited for. */
  close(): void {
    void this.#looks.close();
  }

  async #look(): Promise<void> {
    const { clock, logger, path, onChange } = this.#options;
    const epoch = this.#epoch;
    const cancel = clock.after(SLOW_LOOK_MS, () => {
      if (!this.#complaints.isNew('slow')) return;
      logger.warn('timeout: the file system of the passthrough file does not answer; it cannot switch meanwhile', {
        file: path,
      });
    });
    try {
      const found = await look(path);
      const isChanged = found.stamp !== this.#last;
      const reason = isChanged && found.exists ? await readReason(path) : '';
      this.#complaints.forget('slow');
      this.#complaints.forget('refused');
      if (!isChanged || this.#writes > 0 || epoch !== this.#epoch) return;
      const isOwn = this.#last === OWN_STAMP && found.exists;
      const wasNeverThere = this.#last === undefined && !found.exists;
      this.#last = found.stamp;
      if (!isOwn && !wasNeverThere)
        onChange(found.exists ? { exists: true, changedAtMs: found.changedAtMs, reason } : ABSENT);
    } catch (error) {
      if (!this.#complaints.isNew('refused')) return;
      logger.warn('the passthrough file cannot be looked at; passthrough stays as it is', { file: path, error });
    } finally {
      cancel();
    }
  }
}

const ABSENT_STAMP = 'absent';
/** Stands for the file that this process wrote, until the next look. */
const OWN_STAMP = 'own';

/** Rejects if it cannot be found out whether the file exists. */
async function look(path: string): Promise<{ exists: boolean; stamp: string; changedAtMs: number }> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return { exists: true, stamp: `${ino} ${size} ${mtimeMs}`, changedAtMs: mtimeMs };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { exists: false, stamp: ABSENT_STAMP, changedAtMs: 0 };
    throw error;
  }
}

/** Reads the first bytes of anything that may be there: a pipe does not block, a folder has no text. */
async function readReason(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(REASON_BYTES_MAX), 0, REASON_BYTES_MAX, 0);
      return readableLine(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    // The existence of the file decides; its text is only for people.
    return '';
  }
}

import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../compose/config/config-error.js';

/** Bound on a file that is read: manifests and certificates are a few kilobytes. */
const FILE_BYTES_MAX = 1 << 20;
/** Bound on symbolic links in one path, as in Linux. */
const LINKS_MAX = 40;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Keeps every byte, also a byte order mark, and throws for bytes that no text has. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The files of a machine, below a folder that tests choose. Paths are those of the machine, and so are the targets of symbolic
 * links to folders: no path leads out of the folder. A file is replaced in one step: a reader sees the old content or the new
 * one. Failures are a ConfigError with one sentence.
 */
export class HostFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the content; undefined if there is no such file. Throws for a file that is not UTF-8. */
  read(path: string): string | undefined {
    return this.#status(path) && this.#text(path);
  }

  /** As `read`, but follows symbolic links, with which some tools keep certificates, and replaces what is not UTF-8. */
  readLinked(path: string): string | undefined {
    const linked = this.#linked(path);
    return this.#status(linked) && this.#bytes(linked).toString('utf8');
  }

  /** Returns the names in a folder. */
  list(path: string): readonly string[] {
    return this.#attempt('read', this.#linked(path), (real) => readdirSync(real)).sort();
  }

  hasFolder(path: string): boolean {
    return this.#status(this.#linked(path))?.isDirectory() ?? false;
  }

  /** Replaces or creates a file, with the owner and mode of the file `like`, if that is there. */
  replace(path: string, text: string, like = path): void {
    const status = this.#status(like);
    this.#renameTo(path, (draft) => writeDurably(draft, text, status));
  }

  /** Replaces a file with a backup, also where the disk is full: the backup itself gets a second name. */
  putBack(backup: string, path: string): void {
    this.#renameTo(path, (draft) => {
      try {
        linkSync(this.#real(backup), draft);
      } catch {
        // Another file system, or one without hard links.
        writeDurably(draft, this.#text(backup), this.#status(backup));
      }
    });
  }

  /** A missing file, or one in a missing folder, is removed already. */
  remove(path: string): void {
    if (!this.#status(path)) return;
    this.#attempt('removed', path, (real) => {
      rmSync(real);
      syncFolder(dirname(real));
    });
  }

  /** Removes what is left of a process that was killed while it replaced a file. */
  removeDraft(path: string): void {
    if (this.hasFolder(dirname(path))) this.#attempt('removed', draftOf(path), (real) => rmSync(real, { force: true }));
  }

  /** Creates a folder and its parents; returns those that were not there, outermost first. */
  makeFolder(path: string): readonly string[] {
    const created: string[] = [];
    for (let each = path; each !== '/' && !this.hasFolder(each); each = dirname(each)) created.unshift(each);
    this.#attempt('created', this.#linked(path), (real) => mkdirSync(real, { recursive: true, mode: FOLDER_MODE }));
    for (const each of created) this.#attempt('created', each, (real) => syncFolder(dirname(real)));
    return created;
  }

  /** Gives a folder to a user. */
  giveFolder(path: string, user: number, group: number): void {
    this.#attempt('given to another user', this.#linked(path), (real) => chownSync(real, user, group));
  }

  /** Leaves a folder that others have put something into. */
  removeEmptyFolder(path: string): void {
    try {
      rmdirSync(join(this.#root, this.#linked(path)));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(code)) throw refused('removed', path, error);
    }
  }

  /** Throws if a file in this folder could not be replaced; looks at the nearest folder that is there. */
  checkWritable(folder: string): void {
    let existing = folder;
    while (existing !== '/' && !this.hasFolder(existing)) existing = dirname(existing);
    this.#attempt('written to', this.#linked(existing), (real) => accessSync(real, constants.W_OK | constants.X_OK));
  }

  /** Has a draft made and gives it the name of the file. */
  #renameTo(path: string, make: (draft: string) => void): void {
    const draft = this.#real(draftOf(path));
    this.#attempt('written', path, (real) => {
      rmSync(draft, { force: true });
      try {
        make(draft);
        renameSync(draft, real);
        syncFolder(dirname(real));
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    });
  }

  #text(path: string): string {
    try {
      return UTF8.decode(this.#bytes(path));
    } catch (error) {
      // A backup of what could be decoded would lack the rest.
      throw error instanceof TypeError ? new ConfigError([`${path} is not text in UTF-8.`]) : error;
    }
  }

  #bytes(path: string): Buffer {
    return this.#attempt('read', path, (real) => {
      const status = lstatSync(real);
      if (!status.isFile()) throw new ConfigError([`${path} is not a regular file.`]);
      if (status.size > FILE_BYTES_MAX) throw new ConfigError([`${path} is larger than ${FILE_BYTES_MAX} bytes.`]);
      return readFileSync(real);
    });
  }

  /** Follows symbolic links as the machine does: an absolute one begins at its own root, not at that of this process. */
  #linked(path: string): string {
    const left = wordsOf(path);
    let links = 0;
    let done = '/';
    for (let word = left.shift(); word !== undefined; word = left.shift()) {
      const next = join(done, word);
      const target = linkTarget(join(this.#root, next));
      if (target === undefined) {
        done = next;
        continue;
      }
      if (++links > LINKS_MAX) throw new ConfigError([`${path} has more than ${LINKS_MAX} symbolic links.`]);
      if (target.startsWith('/')) done = '/';
      left.unshift(...wordsOf(target));
    }
    return done;
  }

  #status(path: string): Stats | undefined {
    const real = this.#real(path);
    try {
      return lstatSync(real);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
      throw refused('read', path, error);
    }
  }

  /** The folders before the last word are followed; the last word is not, unless it is `..`. */
  #real(path: string): string {
    const words = wordsOf(path);
    const last = words.at(-1) ?? '';
    if (last === '..') return join(this.#root, this.#linked(path));
    return join(this.#root, this.#linked(words.slice(0, -1).join('/')), last);
  }

  #attempt<T>(what: string, path: string, work: (real: string) => T): T {
    const real = this.#real(path);
    try {
      return work(real);
    } catch (error) {
      throw refused(what, path, error);
    }
  }
}

/** The kubelet skips names that begin with a dot. */
function draftOf(path: string): string {
  return join(dirname(path), `.${path.slice(path.lastIndexOf('/') + 1)}.straddle-draft`);
}

function wordsOf(path: string): string[] {
  return path.split('/').filter((word) => word !== '' && word !== '.');
}

/** Undefined for what is no symbolic link, or not there. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function writeDurably(path: string, text: string, like: Stats | undefined): void {
  const file = openSync(path, 'wx', FILE_MODE);
  try {
    writeFileSync(file, text);
    if (like) {
      fchownSync(file, like.uid, like.gid);
      fchmodSync(file, like.mode & 0o7777);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The rename itself is on disk only when its folder is. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function refused(what: string, path: string, error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const why = code === 'EACCES' || code === 'EPERM' ? `${code}; run this as root` : String(code ?? error);
  return new ConfigError([`${path} cannot be ${what} (${why}).`]);
}

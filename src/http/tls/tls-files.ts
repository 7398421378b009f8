import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.js';
import { fileProblem } from '../../base/file-problem.js';
import type { Logger } from '../../base/logger.js';
import { RepeatedTask } from '../../base/repeated-task.js';

/** A file and the flag that names it, for error messages. */
export interface NamedFile {
  readonly path: string;
  readonly flag: string;
}

export interface FileWatchOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly pollMs?: number;
}

/** Current content of certificate files. A change makes a new object; the old one stays valid. */
export interface Watched<T> {
  readonly current: T;
  /** 1 at first, one more with each change. */
  readonly generation: number;
  /** Calls back after `current` has changed; returns a function that unregisters. */
  onChange(listener: (value: T) => void): () => void;
  /** Reads the files now instead of at the next poll. */
  refresh(): Promise<void>;
  close(): void;
}

export interface KeyPair {
  /** PEM, leaf first. */
  readonly cert: string;
  readonly key: string;
  readonly certificates: readonly X509Certificate[];
}

export interface CaBundle {
  readonly pem: string;
  /** The same array until the bundle changes. */
  readonly certificates: readonly X509Certificate[];
}

/** The files cannot be used; the message has file, flag and the next step. */
export class TlsFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TlsFileError';
  }
}

export const TLS_POLL_MS = 5_000;
/** Above the size of any certificate bundle: another file was named by mistake. */
export const TLS_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Rejects with TlsFileError if the pair is invalid; later, the last valid pair stays in use. */
export function watchKeyPair(
  files: { cert: NamedFile; key: NamedFile },
  options: FileWatchOptions,
): Promise<Watched<KeyPair>> {
  const parse = ([cert, key]: readonly string[]) => parseKeyPair(files, cert!, key!);
  return watch([files.cert, files.key], parse, options);
}

/** The same for a CA bundle. */
export function watchCaBundle(file: NamedFile, options: FileWatchOptions): Promise<Watched<CaBundle>> {
  const parse = ([pem]: readonly string[]): CaBundle => ({ pem: pem!, certificates: parseCertificates(file, pem!) });
  return watch([file], parse, options);
}

async function watch<T extends { readonly certificates: readonly X509Certificate[] }>(
  files: readonly NamedFile[],
  parse: (contents: readonly string[]) => T,
  options: FileWatchOptions,
): Promise<Watched<T>> {
  const contents = await readAll(files);
  const watched = new FileWatch(files, parse, options, contents, parse(contents));
  watched.start();
  return watched;
}

/**
 * Reads the files every few seconds and compares their content. Kubernetes swaps symbolic links,
 * editors write in place, tools rename: no other sign of a change is reliable.
 */
class FileWatch<T extends { readonly certificates: readonly X509Certificate[] }> implements Watched<T> {
  readonly #files: readonly NamedFile[];
  readonly #parse: (contents: readonly string[]) => T;
  readonly #options: FileWatchOptions;
  readonly #listeners = new Set<(value: T) => void>();
  #contents: readonly string[];
  #current: T;
  #generation = 1;
  /** The last warning: a file that stays invalid is logged once, not at every poll. */
  #complaint = '';
  readonly #reads: RepeatedTask;
  #closed = false;

  constructor(
    files: readonly NamedFile[],
    parse: (contents: readonly string[]) => T,
    options: FileWatchOptions,
    contents: readonly string[],
    first: T,
  ) {
    this.#files = files;
    this.#parse = parse;
    this.#options = options;
    this.#contents = contents;
    this.#current = first;
    const { clock, pollMs = TLS_POLL_MS } = options;
    this.#reads = new RepeatedTask({ clock, run: () => this.#readAgain(), pauseMs: () => pollMs });
  }

  get current(): T {
    return this.#current;
  }

  get generation(): number {
    return this.#generation;
  }

  start(): void {
    this.#warnOfExpired();
    this.#reads.pause();
  }

  onChange(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  refresh(): Promise<void> {
    return this.#reads.now();
  }

  close(): void {
    this.#closed = true;
    void this.#reads.close();
    this.#listeners.clear();
  }

  async #readAgain(): Promise<void> {
    try {
      const contents = await readAll(this.#files);
      if (this.#closed) return;
      const same = contents.every((content, i) => content === this.#contents[i]);
      const next = same ? undefined : this.#parse(contents);
      this.#complaint = '';
      if (!next) return;
      this.#contents = contents;
      this.#current = next;
      this.#generation += 1;
    } catch (error) {
      this.#complain((error as Error).message);
      return;
    }
    this.#options.logger.info('certificate files reloaded', { files: this.#paths(), generation: this.#generation });
    this.#warnOfExpired();
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.#current);
      } catch (error) {
        // The other listeners must get the new certificates too.
        this.#options.logger.error('could not put reloaded certificates to use', { files: this.#paths(), error });
      }
    }
  }

  #complain(message: string): void {
    if (this.#closed || message === this.#complaint) return;
    this.#complaint = message;
    this.#options.logger.warn('certificate files changed but cannot be used; the last good ones stay in use', {
      files: this.#paths(),
      error: message,
    });
  }

  #warnOfExpired(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const { subject, validTo } of this.#current.certificates) {
      if (Date.parse(validTo) >= nowMs) continue;
      this.#options.logger.warn('a certificate has expired', { files: this.#paths(), subject, expired: validTo });
    }
  }

  #paths(): string[] {
    return this.#files.map(({ path }) => path);
  }
}

function readAll(files: readonly NamedFile[]): Promise<string[]> {
  return Promise.all(files.map(readOne));
}

async function readOne({ path, flag }: NamedFile): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > TLS_FILE_BYTES_MAX) throw new Error(`it is larger than ${TLS_FILE_BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new TlsFileError(`${flag}: ${path} cannot be read (${fileProblem(error)})`, error);
  }
}

function parseCertificates({ path, flag }: NamedFile, pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  // A file that is being written may end in the middle of a block, which must not pass as a shorter bundle.
  const begun = pem.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  if (begun === 0) throw new TlsFileError(`${path} (${flag}) holds no certificate in PEM form`);
  if (blocks.length !== begun) throw new TlsFileError(`${path} (${flag}) ends in the middle of a certificate`);
  return blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new TlsFileError(`${path} (${flag}): certificate ${i + 1} is malformed`, error);
    }
  });
}

function parseKeyPair(files: { cert: NamedFile; key: NamedFile }, cert: string, key: string): KeyPair {
  const certificates = parseCertificates(files.cert, cert);
  if (!certificates[0]!.checkPrivateKey(parseKey(files.key, key))) {
    throw new TlsFileError(
      `the private key in ${files.key.path} (${files.key.flag}) does not belong to the first certificate in ` +
        `${files.cert.path} (${files.cert.flag})`,
    );
  }
  return { cert, key, certificates };
}

function parseKey({ path, flag }: NamedFile, pem: string) {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const encrypted = pem.includes('ENCRYPTED');
    const why = encrypted
      ? 'holds an encrypted private key, which is not supported'
      : 'holds no private key in PEM form';
    throw new TlsFileError(`${path} (${flag}) ${why}`, error);
  }
}

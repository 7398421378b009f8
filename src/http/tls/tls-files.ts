import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';

/** A file and the flag that names it, so that an error can say which of the two to look at. */
export interface NamedFile {
  readonly path: string;
  readonly flag: string;
}

export interface FileWatchOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly pollMs?: number;
}

/** What certificate files hold now. A new value is a new object; the old one stays good for whoever still has it. */
export interface Watched<T> {
  readonly current: T;
  /** 1 at first, one more with each change. */
  readonly generation: number;
  /** Calls back after `current` has changed; returns how to take that back. */
  onChange(listener: (value: T) => void): () => void;
  /** Looks at the files now instead of at the next poll. */
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
  /** The same array for as long as the bundle is the same. */
  readonly certificates: readonly X509Certificate[];
}

/** The files can't be used; the message names file, flag and what to do about it. */
export class TlsFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TlsFileError';
  }
}

export const TLS_POLL_MS = 5_000;
/** No certificate bundle is larger; something else was named by mistake. */
export const TLS_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Rejects with TlsFileError if the pair can't be used at first; later, a bad pair leaves the last good one in place. */
export function watchKeyPair(
  files: { cert: NamedFile; key: NamedFile },
  options: FileWatchOptions,
): Promise<Watched<KeyPair>> {
  const parse = ([cert, key]: readonly string[]) => parseKeyPair(files, cert!, key!);
  return watch([files.cert, files.key], parse, options);
}

/** The same for a bundle of authorities. */
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
 * Reads the files again every few seconds. Kubernetes swaps a symbolic link, editors write in place, tools rename: only
 * the content tells reliably that something changed, and a handful of small reads costs nothing.
 */
class FileWatch<T extends { readonly certificates: readonly X509Certificate[] }> implements Watched<T> {
  readonly #files: readonly NamedFile[];
  readonly #parse: (contents: readonly string[]) => T;
  readonly #options: FileWatchOptions;
  readonly #listeners = new Set<(value: T) => void>();
  #contents: readonly string[];
  #current: T;
  #generation = 1;
  /** The last complaint, so that a file that stays broken is reported once and not at every poll. */
  #complaint = '';
  #refreshing: Promise<void> | undefined;
  #cancelTimer: () => void = () => {};
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
  }

  get current(): T {
    return this.#current;
  }

  get generation(): number {
    return this.#generation;
  }

  start(): void {
    this.#warnOfExpired();
    this.#schedule();
  }

  onChange(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#readAgain().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    this.#listeners.clear();
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#cancelTimer = this.#options.clock.after(this.#options.pollMs ?? TLS_POLL_MS, () => {
      void this.refresh().then(() => this.#schedule());
    });
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
        // One that fails must not keep the others from the new certificates.
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
    throw new TlsFileError(`cannot read ${path} (${flag}): ${(error as Error).message}`, error);
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

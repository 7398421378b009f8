import type { KeyValue } from './backend.js';

export type StorageErrorCode =
  /** The key is not at the expected revision; `current` is what is there. */
  | 'conflict'
  /** The key to be created is there already; `current` is what is there. */
  | 'exists'
  | 'not-found'
  /** The revision's history is gone (`410 Gone`); `revision` is the oldest one that can still be read. */
  | 'compacted'
  /** The revision does not exist yet; `revision` is the newest. */
  | 'future-revision'
  /** The store could not be reached or took no more work. Nothing was written: repeating is safe. */
  | 'unavailable'
  /** Contact was lost after a write had been sent: it may have happened, may still happen, or may not. */
  | 'uncertain'
  /** The key, the value or the answer is larger than the store takes. */
  | 'too-large'
  /** The store refuses this caller's credentials, or knows no such permission. */
  | 'denied'
  /** A caller's mistake: an empty key, a revision that is no whole number. */
  | 'invalid'
  | 'closed';

/** The only error that leaves this folder. Turned into an API answer in one place, by whoever serves the API. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  readonly current: KeyValue | undefined;
  readonly revision: number | undefined;

  constructor(code: StorageErrorCode, message: string, details: StorageErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StorageError';
    this.code = code;
    this.current = details.current;
    this.revision = details.revision;
  }
}

export interface StorageErrorDetails {
  readonly current?: KeyValue;
  readonly revision?: number;
  readonly cause?: unknown;
}

export function isStorageError(error: unknown, code?: StorageErrorCode): error is StorageError {
  return error instanceof StorageError && (code === undefined || error.code === code);
}

/** The same words for the same mishap in every engine. */
export const failures = {
  conflict: (key: Buffer, expected: number, current: KeyValue) =>
    new StorageError('conflict', `${show(key)}: expected revision ${expected}, found ${current.modRevision}`, {
      current,
    }),
  exists: (key: Buffer, current: KeyValue | undefined) =>
    new StorageError('exists', `${show(key)} exists already`, current === undefined ? {} : { current }),
  notFound: (key: Buffer) => new StorageError('not-found', `${show(key)} does not exist`),
  compacted: (asked: number, oldest: number) =>
    new StorageError('compacted', `revision ${asked} is compacted; the oldest that can be read is ${oldest}`, {
      revision: oldest,
    }),
  futureRevision: (asked: number, newest: number) =>
    new StorageError('future-revision', `revision ${asked} does not exist yet; the newest is ${newest}`, {
      revision: newest,
    }),
  tooLarge: (what: string, bytes: number, bytesMax: number) =>
    new StorageError('too-large', `${what} has ${bytes} bytes; at most ${bytesMax} are stored`),
  closed: () => new StorageError('closed', 'the store is closed'),
};

/** A key for people: as text where it is text. */
function show(key: Buffer): string {
  return JSON.stringify(key.toString('utf8'));
}

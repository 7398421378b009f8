import type { KeyValue } from './backend.js';

export type StorageErrorCode =
  /** The key is not at the expected revision; `current` is its value. */
  | 'conflict'
  /** The key to be created exists; `current` is its value. */
  | 'exists'
  | 'not-found'
  /** The revision is compacted (`410 Gone`); `revision` is the oldest one that can be read. */
  | 'compacted'
  /** The revision does not exist yet; `revision` is the newest. */
  | 'future-revision'
  /** The store could not be reached or refused more work. Nothing was written: a retry is safe. */
  | 'unavailable'
  /** The connection was lost after a write had been sent: it may or may not take effect, even later. */
  | 'uncertain'
  /** The key, the value or the response is larger than a limit of the store. */
  | 'too-large'
  /** The store refuses the credentials, or the permission is missing. */
  | 'denied'
  /** An error of the caller: an empty key, a revision that is not a positive integer. */
  | 'invalid'
  | 'closed';

/** The only error of this folder. `registry/storage-failure.ts` translates it into a reply. */
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

/** The errors of all engines, with the same messages. */
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

function show(key: Buffer): string {
  return JSON.stringify(key.toString('utf8'));
}

import { StorageError, type StorageErrorCode } from '../../storage-error.js';

/** The status codes of gRPC that this client distinguishes. */
export const GRPC = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unavailable: 14,
  unauthenticated: 16,
  unknown: 2,
} as const;

/** A failed call: the status of the server, or a failure of the connection. */
export class GrpcError extends Error {
  readonly status: number;
  /** False only if the server cannot have processed the request. */
  readonly maybeProcessed: boolean;

  constructor(status: number, message: string, maybeProcessed: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'GrpcError';
    this.status = status;
    this.maybeProcessed = maybeProcessed;
  }
}

/** `repeatable`: harmless if processed twice, so retried even after it may have been processed. */
export type CallKind = 'repeatable' | 'write';

/** Translates a failed call. `kind` is that of the call: only a write can be `uncertain`. */
export function toStorageError(error: GrpcError, kind: CallKind): StorageError {
  return new StorageError(codeFor(error, kind), `etcd: ${error.message}`, { cause: error });
}

function codeFor(error: GrpcError, kind: CallKind): StorageErrorCode {
  const { status, message } = error;
  if (status === GRPC.outOfRange) return message.includes('compacted') ? 'compacted' : 'future-revision';
  if (message.includes('too large') || message.includes('larger than max')) return 'too-large';
  if (status === GRPC.permissionDenied || status === GRPC.unauthenticated) return 'denied';
  // etcd reports a wrong password and an unknown user as invalid arguments.
  if (status === GRPC.invalidArgument && message.includes('authentication failed')) return 'denied';
  if (status === GRPC.invalidArgument && message.includes('user name is empty')) return 'denied';
  // No space, or too many requests: refused before anything was written.
  if (status === GRPC.resourceExhausted) return 'unavailable';
  if (status === GRPC.invalidArgument) return 'invalid';
  return kind === 'write' && error.maybeProcessed ? 'uncertain' : 'unavailable';
}

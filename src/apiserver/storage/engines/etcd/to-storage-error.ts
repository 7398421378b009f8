import { StorageError, type StorageErrorCode } from '../../storage-error.js';
import { GRPC, type GrpcError } from './grpc-error.js';

/** What etcd's answers mean in this folder's terms. */
export function toStorageError(error: GrpcError, kind: 'repeatable' | 'write'): StorageError {
  return new StorageError(codeFor(error, kind), `etcd: ${error.message}`, { cause: error });
}

function codeFor(error: GrpcError, kind: 'repeatable' | 'write'): StorageErrorCode {
  const { status, message } = error;
  if (status === GRPC.outOfRange) return message.includes('compacted') ? 'compacted' : 'future-revision';
  if (message.includes('too large') || message.includes('larger than max')) return 'too-large';
  if (status === GRPC.permissionDenied || status === GRPC.unauthenticated) return 'denied';
  // Wrong password, unknown user: etcd calls these invalid arguments, and the caller's arguments are not in question.
  if (status === GRPC.invalidArgument && message.includes('authentication failed')) return 'denied';
  if (status === GRPC.invalidArgument && message.includes('user name is empty')) return 'denied';
  // Full, or asked too much: refused before anything was done.
  if (status === GRPC.resourceExhausted) return 'unavailable';
  if (status === GRPC.invalidArgument) return 'invalid';
  return kind === 'write' && error.maybeProcessed ? 'uncertain' : 'unavailable';
}

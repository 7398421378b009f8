import { StatusError } from '../../kube/status-error.js';
import { isStorageError } from '../storage/storage-error.js';
import type { ResourceType } from './resource-type.js';

/** The one place where the store's errors become answers. Anything else is passed on as it is. */
export function storageFailure(error: unknown, type: ResourceType, name: string): unknown {
  if (!isStorageError(error)) return error;
  switch (error.code) {
    case 'not-found':
      return notFound(type, name);
    case 'exists':
      return alreadyExists(type, name);
    case 'conflict':
      return conflict(type, name, OBJECT_MODIFIED);
    case 'compacted':
      return expired();
    case 'future-revision':
      return tooLargeRevision(error.revision);
    case 'too-large':
      return new StatusError('RequestEntityTooLarge', `Request entity too large: ${error.message}`);
    case 'unavailable':
    case 'closed':
      return new StatusError('ServiceUnavailable', `the store cannot be reached: ${error.message}`);
    case 'uncertain':
      return new StatusError('Timeout', `the store did not confirm the write: ${error.message}`);
    default:
      return new StatusError('InternalError', `Internal error occurred: ${error.message}`);
  }
}

const OBJECT_MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export function qualifiedResource({ group, resource }: ResourceType): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export function qualifiedKind({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** `details` of a Status about one object. */
export function detailsOf(
  { group, resource }: ResourceType,
  name: string,
): { name?: string; group?: string; kind: string } {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
}

export function notFound(type: ResourceType, name: string): StatusError {
  return new StatusError('NotFound', `${qualifiedResource(type)} ${quoted(name)} not found`, detailsOf(type, name));
}

export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedResource(type)} ${quoted(name)} already exists`;
  return new StatusError('AlreadyExists', message, detailsOf(type, name));
}

export function conflict(type: ResourceType, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(type)} ${quoted(name)}: ${why}`;
  return new StatusError('Conflict', message, detailsOf(type, name));
}

export function objectModified(type: ResourceType, name: string): StatusError {
  return conflict(type, name, OBJECT_MODIFIED);
}

export function expired(): StatusError {
  return new StatusError('Expired', 'The resourceVersion for the provided list or watch is too old.');
}

export function tooLargeRevision(current: number | undefined): StatusError {
  return new StatusError(
    'Timeout',
    `Too large resource version${current === undefined ? '' : `, current: ${current}`}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

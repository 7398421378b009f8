import type { Json } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { isStorageError } from '../storage/storage-error.js';
import type { ResourceType } from './resource-type.js';

/** Translates an error of the store into a StatusError. Returns any other error unchanged. */
export function storageFailure(error: unknown, type: ResourceType, name: string): unknown {
  if (!isStorageError(error)) return error;
  switch (error.code) {
    case 'not-found':
      return notFound(type, name);
    case 'exists':
      return alreadyExists(type, name);
    case 'conflict':
      return objectModified(type, name);
    case 'compacted':
      return new StatusError('Expired', 'The resourceVersion for the provided list or watch is too old.');
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

export function qualifiedResource({ group, resource }: ResourceType): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export function qualifiedKind({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** Returns `details` of a Status about one object. */
export function detailsOf(
  { group, resource }: ResourceType,
  name: string,
): { name?: string; group?: string; kind: string } {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
}

export function notFound(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} not found`;
  return new StatusError('NotFound', message, detailsOf(type, name));
}

export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} already exists`;
  return new StatusError('AlreadyExists', message, detailsOf(type, name));
}

export function conflict(type: ResourceType, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(type)} ${JSON.stringify(name)}: ${why}`;
  return new StatusError('Conflict', message, detailsOf(type, name));
}

export function objectModified(type: ResourceType, name: string): StatusError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(type, name, why);
}

export function preconditionFailed(
  type: ResourceType,
  name: string,
  member: 'UID' | 'ResourceVersion',
  { wanted, present }: { readonly wanted: Json; readonly present: Json | undefined },
): StatusError {
  const why = `${member} in precondition: ${wanted}, ${member} in object meta: ${present}`;
  return conflict(type, name, `Precondition failed: ${why}`);
}

/** For an object whose name is not that of its path. */
export function otherName(name: Json | undefined, pathName: string): StatusError {
  const message = `the name of the object (${name}) does not match the name on the URL (${pathName})`;
  return new StatusError('BadRequest', message);
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

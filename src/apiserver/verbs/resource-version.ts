import { StatusError } from '../../kube/status-error.js';
import { storageFailure, tooLargeRevision } from '../registry/storage-failure.js';
import type { ApiCall } from './api-call.js';

/** Returns Go's message for a text that is not a version. */
export function unparsedVersion(text: string): string {
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  return `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
}

/** Returns the revision of a resourceVersion; undefined if none is given. Throws StatusError like kube-apiserver. */
export function parseResourceVersion(
  text: string | null,
  { isList = false }: { readonly isList?: boolean } = {},
): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d{1,19}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const why = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${unparsedVersion(text)}`;
  throw isList ? new StatusError('BadRequest', `invalid resource version: ${why}`) : new StatusError('', why);
}

/** Resolves when the cache of the call's resource has reached a revision; 0 for any. */
export async function awaitRevision(call: ApiCall, revision: number): Promise<void> {
  const { feed } = call.machinery;
  await cacheReady(call);
  if (!(await feed.waitFor(revision))) throw tooLargeRevision(feed.revision);
}

/** Resolves when the cache has every write that any server acknowledged before the call. */
export async function awaitNewest(call: ApiCall): Promise<void> {
  const { backend, feed } = call.machinery;
  await cacheReady(call);
  const newest = await ofStore(call, backend.currentRevision());
  if (!(await feed.waitFor(newest))) {
    throw new StatusError('Timeout', 'the newest state of the store did not arrive in time', { retryAfterSeconds: 1 });
  }
}

function cacheReady(call: ApiCall): Promise<void> {
  return ofStore(call, call.machinery.caches.of(call.type.storage.prefix).ready());
}

async function ofStore<T>({ type }: ApiCall, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw storageFailure(error, type, '');
  }
}

import { StatusError } from '../../kube/status-error.js';
import type { ResourceType } from '../registry/resource-type.js';
import { storageFailure, tooLargeRevision } from '../registry/storage-failure.js';
import type { ApiCall } from './api-call.js';

/** Go's words for a text that is no version. */
export function unparsedVersion(text: string): string {
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  return `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
}

/** A resourceVersion as a revision of the store; undefined where none is given. Throws what kube-apiserver says. */
export function parseResourceVersion(
  text: string | null,
  { isList = false }: { readonly isList?: boolean } = {},
): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d{1,19}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const why = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${unparsedVersion(text)}`;
  throw isList ? new StatusError('BadRequest', `invalid resource version: ${why}`) : new StatusError('', why);
}

/** Resolves when the cache of the call's resource is at least this new; 0 for whatever it has. */
export async function awaitRevision({ machinery, type }: ApiCall, revision: number): Promise<void> {
  const cache = machinery.caches.of(type.storage.prefix);
  await ready(cache, type);
  if (!(await machinery.feed.waitFor(revision))) throw tooLargeRevision(machinery.feed.revision);
}

/** Resolves when the cache has every write that was acknowledged, by any server, before the call. */
export async function awaitNewest({ machinery, type }: ApiCall): Promise<void> {
  const cache = machinery.caches.of(type.storage.prefix);
  await ready(cache, type);
  const newest = await machinery.backend.currentRevision().catch((error: unknown) => {
    throw storageFailure(error, type, '');
  });
  if (!(await machinery.feed.waitFor(newest))) {
    throw new StatusError('Timeout', 'the newest state of the store did not arrive in time', { retryAfterSeconds: 1 });
  }
}

async function ready(cache: { ready(): Promise<void> }, type: ResourceType): Promise<void> {
  try {
    await cache.ready();
  } catch (error) {
    throw storageFailure(error, type, '');
  }
}

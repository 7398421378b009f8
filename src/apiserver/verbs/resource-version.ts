import { StatusError } from '../../core/status-error.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { ApiCall } from './api-call.js';
import { storageFailure, tooLargeRevision } from './storage-failure.js';

/** A resourceVersion as a revision of the store; undefined where none is given. Throws BadRequest. */
export function parseResourceVersion(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^\d{1,19}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw new StatusError(
      'Invalid',
      `Invalid value: ${JSON.stringify(text)}: resource version must be a whole number`,
      {
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
            field: 'resourceVersion',
          },
        ],
      },
    );
  }
  return Number(text);
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

import type { Reply } from '../../core/exchange.js';
import { isStorageError } from '../../storage/storage-error.js';
import { servedViews } from '../registry/served-view.js';
import { StoredObject } from '../watch/stored-object.js';
import { objectAnswer } from './answer.js';
import { type ApiCall, keyOf } from './api-call.js';
import { awaitRevision, parseResourceVersion } from './resource-version.js';
import { notFound, storageFailure } from './storage-failure.js';

export async function get(call: ApiCall): Promise<Reply> {
  const stored = await readStored(call);
  if (!stored) throw notFound(call.type, call.info.name);
  const [view] = await servedViews([stored], call.type);
  return objectAnswer(call, 200, view!);
}

/** The newest state, or with a resourceVersion one that is not older. */
async function readStored(call: ApiCall): Promise<StoredObject | undefined> {
  const { type, machinery, query } = call;
  const key = keyOf(call);
  const cache = machinery.caches.of(type.storage.prefix);
  const resourceVersion = parseResourceVersion(query.get('resourceVersion'));
  if (resourceVersion !== undefined) {
    await awaitRevision(call, resourceVersion);
    return cache.get(key);
  }
  return readNewest(call, key);
}

/** Straight from the store; if the cache has the same revision, its views save the work of making new ones. */
export async function readNewest({ type, machinery, info }: ApiCall, key: string): Promise<StoredObject | undefined> {
  const cache = machinery.caches.of(type.storage.prefix);
  const kv = await machinery.backend.get(key).catch((error: unknown) => {
    // Nothing can be stored under a name that is too long for a key.
    if (isStorageError(error, 'too-large')) return undefined;
    throw storageFailure(error, type, info.name);
  });
  // Whoever reads one object will read it again, and others of its kind.
  cache.warm();
  if (!kv) return undefined;
  const cached = cache.get(key);
  return cached?.revision === kv.modRevision ? cached : new StoredObject(kv);
}

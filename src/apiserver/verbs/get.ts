import type { Reply } from '../../http/exchange.js';
import { notFound, storageFailure } from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import { servedViews, trivialView } from '../watch/served-view.js';
import { StoredObject } from '../watch/stored-object.js';
import { objectAnswer } from './answer.js';
import { type ApiCall, keyOf } from './api-call.js';
import { awaitRevision, parseResourceVersion } from './resource-version.js';

/** The newest state, or with a resourceVersion one that is not older. */
export async function get(call: ApiCall): Promise<Reply> {
  const { type, query } = call;
  const resourceVersion = parseResourceVersion(query.get('resourceVersion'));
  const stored = await (resourceVersion === undefined
    ? readNewest(call, keyOf(call))
    : readNotOlder(call, resourceVersion));
  if (!stored) throw notFound(type, call.info.name);
  const view = type.conversion.isTrivial ? trivialView(stored, type) : (await servedViews([stored], type))[0]!;
  return objectAnswer(call, 200, view);
}

async function readNotOlder(call: ApiCall, resourceVersion: number): Promise<StoredObject | undefined> {
  await awaitRevision(call, resourceVersion);
  return call.machinery.caches.of(call.type.storage.prefix).get(keyOf(call));
}

/** What the store has now: the cache's own object where that is the same, since what was made of it is kept with it. */
export async function readNewest({ type, machinery, info }: ApiCall, key: string): Promise<StoredObject | undefined> {
  const { backend } = machinery;
  const cache = machinery.caches.of(type.storage.prefix);
  // Whoever reads one object will read it again, and others of its kind.
  cache.warm();
  const cached = cache.get(key);
  try {
    if (cached && (await backend.isNewest(key, cached.revision))) return cached;
    const kv = await backend.get(key);
    if (!kv) return undefined;
    const arrived = cache.get(key);
    return arrived?.revision === kv.modRevision ? arrived : new StoredObject(kv);
  } catch (error) {
    // Nothing can be stored under a name that is too long for a key.
    if (isStorageError(error, 'too-large')) return undefined;
    throw storageFailure(error, type, info.name);
  }
}

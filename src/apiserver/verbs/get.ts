import type { Reply } from '../../http/exchange.js';
import { notFound, storageFailure } from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import { type ServedView, servedViews, trivialView } from '../watch/served-view.js';
import { StoredObject } from '../watch/stored-object.js';
import { objectAnswer } from './answer.js';
import { type ApiCall, keyOf } from './api-call.js';
import { awaitRevision, parseResourceVersion } from './resource-version.js';

/** Replies with the newest state or, with a resourceVersion, with one that is not older. */
export async function get(call: ApiCall): Promise<Reply> {
  const { type, query, machinery } = call;
  const resourceVersion = parseResourceVersion(query.get('resourceVersion'));
  if (resourceVersion === undefined) {
    return objectAnswer(call, 200, await viewIn(call, await readNewest(call, keyOf(call))));
  }
  await awaitRevision(call, resourceVersion);
  return objectAnswer(call, 200, await viewIn(call, machinery.caches.of(type.storage.prefix).get(keyOf(call))));
}

/** Returns the newest state of the call's object. Throws NotFound if there is none. */
export async function readLive(call: ApiCall): Promise<ServedView> {
  return viewIn(call, await readNewest(call, keyOf(call)));
}

function viewIn({ type, info }: ApiCall, stored: StoredObject | undefined): ServedView | Promise<ServedView> {
  if (!stored) throw notFound(type, info.name);
  return type.conversion.isTrivial ? trivialView(stored, type) : servedViews([stored], type).then(([view]) => view!);
}

/** Returns the newest stored object: the cached one if it is the newest, because its views are kept with it. */
export async function readNewest({ type, machinery, info }: ApiCall, key: string): Promise<StoredObject | undefined> {
  const { backend } = machinery;
  const cache = machinery.caches.of(type.storage.prefix);
  // Reads of one object are followed by others of the same resource.
  cache.warm();
  const cached = cache.get(key);
  try {
    if (cached && (await backend.isNewest(key, cached.revision))) return cached;
    const kv = await backend.get(key);
    if (!kv) return undefined;
    const arrived = cache.get(key);
    return arrived?.revision === kv.modRevision ? arrived : new StoredObject(kv);
  } catch (error) {
    // No object can exist under a key that is too long.
    if (isStorageError(error, 'too-large')) return undefined;
    throw storageFailure(error, type, info.name);
  }
}

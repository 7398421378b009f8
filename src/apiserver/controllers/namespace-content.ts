import { type ApiClient, ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { text, texts } from '../../kube/fields.js';
import { isObject, type Json } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { pathOf } from '../../kube/resource-kind.js';
import { isDefinitelyAbsent, listPage } from './answers.js';
import { LeadershipLost } from './fenced-client.js';
import type { ApiResource, Catalogue, CatalogueReader } from './resource-catalogue.js';

/** The result of one pass through a namespace. */
export interface ContentReport {
  /** Why discovery may be incomplete. */
  readonly discoveryFailures: readonly string[];
  /** Requests whose answers do not prove that a resource is empty. */
  readonly contentFailures: readonly string[];
  /** Numbers of remaining objects by resource (`pods.`, `jobs.batch`). */
  readonly remaining: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
}

/** Returns true if every resource was seen to be empty: only then is a namespace finalized. */
export function isEmpty({ discoveryFailures, contentFailures, remaining }: ContentReport): boolean {
  return discoveryFailures.length === 0 && contentFailures.length === 0 && remaining.size === 0;
}

interface Tally {
  readonly failures: string[];
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
}

/** Bound on the pages of one pass; the next pass finds the rest. */
const PAGES_MAX = 20;
const CONCURRENCY_MAX = 4;
const FAILURES_MAX = 20;

/**
 * Deletes the objects of a namespace, as far as possible now, and reports the rest. Any answer but
 * an empty list counts as "may still exist": a 503 from a server that starts, a 404 from one that
 * does not serve the resource.
 */
export async function deleteContent(
  client: ApiClient,
  reader: CatalogueReader,
  namespace: string,
): Promise<ContentReport> {
  let catalogue: Catalogue;
  try {
    catalogue = await reader.read();
  } catch (error) {
    return { ...NOTHING_SEEN, discoveryFailures: [(error as Error).message] };
  }
  const tally: Tally = { failures: [], remaining: new Map(), finalizers: new Map() };
  const resources = deletable(catalogue);
  // Pods first: policies and secrets that they use must exist until then.
  const pods = resources.filter(isPods);
  await deleteAll(client, namespace, pods, tally);
  const podsAreGone = tally.failures.length === 0 && tally.remaining.size === 0;
  if (podsAreGone)
    await deleteAll(
      client,
      namespace,
      resources.filter((each) => !isPods(each)),
      tally,
    );
  return {
    discoveryFailures: [...new Set([...catalogue.gaps, ...(await missedSince(reader, resources))])],
    contentFailures: tally.failures,
    remaining: tally.remaining,
    finalizers: tally.finalizers,
  };
}

const NOTHING_SEEN: ContentReport = {
  discoveryFailures: [],
  contentFailures: [],
  remaining: new Map(),
  finalizers: new Map(),
};

function deletable({ preferred }: Catalogue): ApiResource[] {
  return preferred.filter(({ namespaced, verbs }) => namespaced && verbs.has('delete'));
}

function isPods({ group, resource }: ApiResource): boolean {
  return group === '' && resource === 'pods';
}

/** Returns resources that appeared during the pass: of a new server or definition. */
async function missedSince(reader: CatalogueReader, seen: readonly ApiResource[]): Promise<string[]> {
  try {
    const now = await reader.read();
    const keys = new Set(seen.map(({ key }) => key));
    const missed = deletable(now).filter(({ key }) => !keys.has(key));
    return [...now.gaps, ...missed.map(({ key }) => `${key} has just appeared`)];
  } catch (error) {
    return [(error as Error).message];
  }
}

async function deleteAll(
  client: ApiClient,
  namespace: string,
  resources: readonly ApiResource[],
  tally: Tally,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < resources.length) {
      const resource = resources[next++]!;
      try {
        await deleteResource(client, namespace, resource, tally);
      } catch (error) {
        if (error instanceof LeadershipLost) throw error;
        if (tally.failures.length < FAILURES_MAX) tally.failures.push((error as Error).message);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY_MAX }, worker));
}

/** Lists first: deletions of empty collections would call webhooks for nothing. */
async function deleteResource(
  client: ApiClient,
  namespace: string,
  resource: ApiResource,
  tally: Tally,
): Promise<void> {
  if (!resource.verbs.has('list')) {
    // A resource without list cannot be waited for either; Kubernetes leaves it at one attempt.
    if (resource.verbs.has('deletecollection')) await deleteCollection(client, namespace, resource);
    return;
  }
  const found = await listAll(client, namespace, resource);
  if (found.length === 0) return;
  const deleted = resource.verbs.has('deletecollection') && (await deleteCollection(client, namespace, resource));
  if (!deleted) for (const each of found) await deleteOne(client, namespace, resource, each);
  count(resource, await listAll(client, namespace, resource), tally);
}

async function listAll(client: ApiClient, namespace: string, resource: ApiResource): Promise<Remaining[]> {
  const path = pathOf(resource, namespace);
  const found: Remaining[] = [];
  let next = '';
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, next: after } = await listPage(client, path, next);
    found.push(...items.map(remainingOf));
    next = after;
    if (next === '') break;
  }
  return found;
}

interface Remaining {
  readonly name: string;
  readonly uid: string;
  readonly finalizers: readonly string[];
}

function remainingOf(item: Json): Remaining {
  const metadata = isObject(item) ? metadataOf(item) : {};
  return { name: text(metadata, 'name'), uid: text(metadata, 'uid'), finalizers: texts(metadata, 'finalizers') };
}

const DELETE_OPTIONS = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };

async function deleteCollection(client: ApiClient, namespace: string, resource: ApiResource): Promise<boolean> {
  const target = pathOf(resource, namespace);
  const answer = await client.request({ method: 'DELETE', target, body: DELETE_OPTIONS });
  if (isSuccess(answer)) return true;
  if (answer.status === 405) return false;
  throw new ApiRefusal(`delete ${target}`, answer);
}

async function deleteOne(
  client: ApiClient,
  namespace: string,
  resource: ApiResource,
  { name, uid }: Remaining,
): Promise<void> {
  const target = pathOf(resource, namespace, name);
  const body = { ...DELETE_OPTIONS, ...(uid === '' ? {} : { preconditions: { uid } }) };
  const answer = await client.request({ method: 'DELETE', target, body });
  // Deleted, or created anew with the same name: the next list shows it.
  if (isSuccess(answer) || isDefinitelyAbsent(answer, name) || answer.status === 409) return;
  throw new ApiRefusal(`delete ${target}`, answer);
}

function count({ group, resource }: ApiResource, left: readonly Remaining[], { remaining, finalizers }: Tally): void {
  if (left.length === 0) return;
  remaining.set(`${resource}.${group}`, left.length);
  for (const { finalizers: names } of left) {
    for (const name of names) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
  }
}

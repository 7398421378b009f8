import { type ApiClient, ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { isObject, type Json } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { pathOf } from '../../kube/resource-kind.js';
import { isDefinitelyAbsent, textOf, textsOf } from './answers.js';
import { LeadershipLost } from './fenced-client.js';
import type { ApiResource, Catalogue, CatalogueReader } from './resource-catalogue.js';

/** What one pass through a namespace has shown. */
export interface ContentReport {
  /** Why it is not known what the control plane serves. */
  readonly discoveryFailures: readonly string[];
  /** Answers that left open whether something is still there. */
  readonly contentFailures: readonly string[];
  /** Objects left, by resource (`pods.`, `jobs.batch`). */
  readonly remaining: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
}

/** Every resource there is was seen to be empty. The only state in which a namespace may go. */
export function isEmpty({ discoveryFailures, contentFailures, remaining }: ContentReport): boolean {
  return discoveryFailures.length === 0 && contentFailures.length === 0 && remaining.size === 0;
}

interface Tally {
  readonly failures: string[];
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
}

const PAGE_ITEMS = 500;
/** Bounds one pass; what is left is found by the next. */
const PAGES_MAX = 20;
const CONCURRENCY_MAX = 4;
const FAILURES_MAX = 20;

/**
 * Deletes what is in a namespace, as far as that is possible now, and reports what is left. Anything but a plain list of
 * nothing counts as "may still be there": a 503 from a server on its way, a 404 from one that does not know the resource.
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
  // Pods first: policies and secrets that they run with must not go before them.
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

/** What has come into view during the pass: a server that has just appeared, a definition made meanwhile. */
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

/** Looks first: most namespaces hold few kinds of objects, and webhooks need not hear of deletions of nothing. */
async function deleteResource(
  client: ApiClient,
  namespace: string,
  resource: ApiResource,
  tally: Tally,
): Promise<void> {
  if (!resource.verbs.has('list')) return deleteUnseen(client, namespace, resource);
  const found = await listAll(client, namespace, resource);
  if (found.length === 0) return;
  const deleted = resource.verbs.has('deletecollection') && (await deleteCollection(client, namespace, resource));
  if (!deleted) for (const each of found) await deleteOne(client, namespace, resource, each);
  count(resource, await listAll(client, namespace, resource), tally);
}

/** What can't be listed can't be waited for either; Kubernetes leaves it at the attempt. */
async function deleteUnseen(client: ApiClient, namespace: string, resource: ApiResource): Promise<void> {
  if (resource.verbs.has('deletecollection')) await deleteCollection(client, namespace, resource);
}

async function listAll(client: ApiClient, namespace: string, resource: ApiResource): Promise<Remaining[]> {
  const path = pathOf(resource, namespace);
  const found: Remaining[] = [];
  let next = '';
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = new URLSearchParams({ limit: String(PAGE_ITEMS), ...(next === '' ? {} : { continue: next }) });
    const answer = await client.request({ method: 'GET', target: `${path}?${query}`, metadataOnly: true });
    const { items, metadata } = answer.body;
    if (answer.status !== 200) throw new ApiRefusal(`list ${path}`, answer);
    if (!isObject(metadata) || (items !== null && !Array.isArray(items)))
      throw new Error(`list ${path}: not a list was answered`);
    found.push(...(items ?? []).map(remainingOf));
    next = textOf(metadata, 'continue');
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
  return { name: textOf(metadata, 'name'), uid: textOf(metadata, 'uid'), finalizers: textsOf(metadata, 'finalizers') };
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
  // Gone, or made anew under the same name: the list after this shows it.
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

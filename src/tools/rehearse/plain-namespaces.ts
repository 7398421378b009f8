import type { Clock } from '../../base/clock.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { NAMESPACES, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, type ApiAnswer, isSuccess } from './api-connection.js';
import { repeat } from './pause.js';
import { PlainDiscovery } from './plain-discovery.js';

const EVERY_MS = 400;
const REFRESH_MS = 1_000;
const NAMESPACES_AT_ONCE_MAX = 4;
const REQUESTS_AT_ONCE_MAX = 4;
const PAGE_ITEMS = 500;

/**
 * Empties namespaces that are being deleted and lets them go, as a controller does that was written for a control plane
 * of one version: a kube-controller-manager's namespace controller, as far as its client can tell. It asks discovery what
 * there is, and takes a 404 or 405 for a collection as "nothing of the kind here". This is what the rehearsal measures
 * the damage with. Straddle's own namespace controller (src/apiserver/controllers) would not do it.
 *
 * Two liberties: it looks for objects first and deletes only where some are, which saves requests and changes no outcome,
 * and it comes round more often than the real one, which waits longer after a failure. And one restriction: it touches
 * only namespaces whose names begin with a prefix, because a rehearsal may run on servers where others have theirs.
 */
export class PlainNamespaces {
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #discovery: PlainDiscovery;
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(api: Api, clock: Clock, prefix: string) {
    this.#api = api;
    this.#clock = clock;
    this.#prefix = prefix;
    this.#discovery = new PlainDiscovery(api, clock, REFRESH_MS);
  }

  start(): void {
    this.#done = repeat(this.#clock, EVERY_MS, this.#stop.signal, () => this.round().catch(() => {}));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /** Looks at every namespace once. Rejects where not even those can be listed. */
  async round(): Promise<void> {
    const answer = await this.#api.request({ method: 'GET', target: pathOf(NAMESPACES, '') });
    if (!isSuccess(answer)) throw new Error(`namespaces cannot be listed: ${answer.status}`);
    const leaving = itemsOf(answer).filter(
      (each) => nameOf(each).startsWith(this.#prefix) && metadataOf(each)['deletionTimestamp'] !== undefined,
    );
    await eachOf(leaving, NAMESPACES_AT_ONCE_MAX, async (namespace) => {
      if (await this.#empty(nameOf(namespace)).catch(() => false)) await this.#finalize(namespace).catch(() => {});
    });
  }

  /** Whether nothing is left as far as this controller can see. Rejects on an answer that tells it nothing. */
  async #empty(namespace: string): Promise<boolean> {
    const kinds = preferred(await this.#discovery.kinds());
    let left = 0;
    await eachOf(kinds, REQUESTS_AT_ONCE_MAX, async (kind) => {
      left += await this.#deleteAll(kind, namespace);
    });
    return left === 0;
  }

  async #deleteAll(kind: ResourceKind, namespace: string): Promise<number> {
    const target = pathOf(kind, namespace);
    const found = await this.#list(target);
    if (found.length === 0) return 0;
    const body: JsonObject = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    const deleted = await this.#api.request({ method: 'DELETE', target, body });
    if (isNothingThere(deleted)) return 0;
    if (!isSuccess(deleted)) throw new Error(`${target} cannot be deleted: ${deleted.status}`);
    return (await this.#list(target)).length;
  }

  async #list(target: string): Promise<JsonObject[]> {
    const answer = await this.#api.request({ method: 'GET', target: `${target}?limit=${PAGE_ITEMS}` });
    if (isNothingThere(answer)) return [];
    if (!isSuccess(answer)) throw new Error(`${target} cannot be listed: ${answer.status}`);
    return itemsOf(answer);
  }

  async #finalize(namespace: JsonObject): Promise<void> {
    const spec = isObject(namespace['spec']) ? namespace['spec'] : {};
    const finalizers = Array.isArray(spec['finalizers']) ? spec['finalizers'] : [];
    const body = {
      ...namespace,
      apiVersion: 'v1',
      kind: 'Namespace',
      spec: { ...spec, finalizers: finalizers.filter((each) => each !== 'kubernetes') },
    };
    await this.#api.request({ method: 'PUT', target: `${pathOf(NAMESPACES, '', nameOf(namespace))}/finalize`, body });
  }
}

/** The fatal reading: a server that does not know the resource answers the same. */
function isNothingThere({ status }: ApiAnswer): boolean {
  return status === 404 || status === 405;
}

/** One version of each resource that objects can be deleted of. */
function preferred(kinds: readonly ResourceKind[]): ResourceKind[] {
  const found = new Map<string, ResourceKind>();
  for (const kind of kinds) {
    const place = `${kind.group}/${kind.resource}`;
    if (kind.namespaced && kind.verbs.has('delete') && kind.verbs.has('list') && !found.has(place))
      found.set(place, kind);
  }
  return [...found.values()];
}

export function itemsOf({ body }: ApiAnswer): JsonObject[] {
  const { items } = body;
  return Array.isArray(items) ? items.filter((each: Json): each is JsonObject => isObject(each)) : [];
}

async function eachOf<T>(members: readonly T[], atOnceMax: number, work: (member: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < members.length) await work(members[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, members.length) }, worker));
}

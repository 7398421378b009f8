import type { Clock } from '../../base/clock.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, isSuccess } from './api-connection.js';
import { repeat } from './pause.js';
import { PlainDiscovery } from './plain-discovery.js';
import { itemsOf } from './plain-namespaces.js';

const EVERY_MS = 700;
const REFRESH_MS = 3_000;
const ABSENT_MAX = 500;
const LIST_ITEMS_MAX = 2_000;

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

interface Dependent {
  readonly name: string;
  readonly uid: string;
  readonly owners: readonly Owner[];
}

/**
 * Deletes objects whose owners are gone, as a controller does that was written for a control plane of one version: a
 * kube-controller-manager's garbage collector, as far as its client can tell. It knows an owner's kind by discovery, and
 * owners by listing that kind. One that it has not seen yet it asks for by name, and takes a 404 as "the owner does not
 * exist"; so it does with one that its list has lost. This is what the rehearsal measures the damage with. Straddle's own
 * garbage collector (src/apiserver/controllers) would not do it.
 *
 * It looks after the ConfigMaps of one namespace: those are the dependents that a rehearsal makes. It lists every while
 * where the real one watches, which comes to the same, a little later.
 */
export class PlainCollector {
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #namespace: string;
  readonly #discovery: PlainDiscovery;
  /** By uid: seen in a list of their kind. What a list that failed would have shown stays as it was. */
  readonly #seen = new Map<string, Set<string>>();
  /** By uid: one 404 is enough for all dependents of an owner. */
  readonly #absent = new Set<string>();
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(api: Api, clock: Clock, namespace: string) {
    this.#api = api;
    this.#clock = clock;
    this.#namespace = namespace;
    this.#discovery = new PlainDiscovery(api, clock, REFRESH_MS);
  }

  start(): void {
    this.#done = repeat(this.#clock, EVERY_MS, this.#stop.signal, () => this.round().catch(() => {}));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /** Looks at every dependent once. Rejects where it learns nothing at all. */
  async round(): Promise<void> {
    const kinds = await this.#discovery.kinds();
    const dependents = await this.#dependents();
    for (const each of dependents) await this.#judge(each, kinds).catch(() => {});
    for (const kind of ownerKinds(dependents, kinds)) await this.#see(kind).catch(() => {});
  }

  async #dependents(): Promise<Dependent[]> {
    const target = `${pathOf(CONFIG_MAPS, this.#namespace)}?limit=${LIST_ITEMS_MAX}`;
    const answer = await this.#api.request({ method: 'GET', target });
    if (!isSuccess(answer)) throw new Error(`dependents cannot be listed: ${answer.status}`);
    return itemsOf(answer)
      .map((each) => ({ name: nameOf(each), uid: text(metadataOf(each), 'uid'), owners: ownersOf(each) }))
      .filter(({ owners }) => owners.length > 0);
  }

  async #judge(dependent: Dependent, kinds: readonly ResourceKind[]): Promise<void> {
    for (const owner of dependent.owners) if (!(await this.#isGone(owner, kinds))) return;
    const { name, uid } = dependent;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background', preconditions: { uid } };
    await this.#api.request({ method: 'DELETE', target: pathOf(CONFIG_MAPS, this.#namespace, name), body });
  }

  async #isGone(owner: Owner, kinds: readonly ResourceKind[]): Promise<boolean> {
    if (this.#absent.has(owner.uid)) return true;
    const kind = kindOf(owner, kinds);
    // A kind that discovery does not show now: nothing can be asked, so this controller waits too.
    if (!kind || this.#seen.get(kind.key)?.has(owner.uid)) return false;
    const answer = await this.#api.request({ method: 'GET', target: pathOf(kind, this.#namespace, owner.name) });
    const isGone = answer.status === 404 || (isSuccess(answer) && text(metadataOf(answer.body), 'uid') !== owner.uid);
    if (isGone) {
      if (this.#absent.size >= ABSENT_MAX) this.#absent.clear();
      this.#absent.add(owner.uid);
    }
    return isGone;
  }

  /** A list that was answered shows who there is, and so who is not there any more. */
  async #see(kind: ResourceKind): Promise<void> {
    const answer = await this.#api.request({ method: 'GET', target: pathOf(kind, this.#namespace) });
    if (isSuccess(answer))
      this.#seen.set(kind.key, new Set(itemsOf(answer).map((each) => text(metadataOf(each), 'uid'))));
  }
}

function ownerKinds(dependents: readonly Dependent[], kinds: readonly ResourceKind[]): Set<ResourceKind> {
  const found = new Set<ResourceKind>();
  for (const { owners } of dependents) {
    for (const owner of owners) {
      const kind = kindOf(owner, kinds);
      if (kind) found.add(kind);
    }
  }
  return found;
}

function kindOf(owner: Owner, kinds: readonly ResourceKind[]): ResourceKind | undefined {
  return kinds.find((each) => each.kind === owner.kind && apiVersionOf(each) === owner.apiVersion && each.namespaced);
}

function ownersOf(object: JsonObject): Owner[] {
  const references = member(metadataOf(object), 'ownerReferences');
  if (!Array.isArray(references)) return [];
  return references.filter(isObject).map((each) => ({
    apiVersion: text(each, 'apiVersion'),
    kind: text(each, 'kind'),
    name: text(each, 'name'),
    uid: text(each, 'uid'),
  }));
}

function text(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === 'string' ? value : '';
}

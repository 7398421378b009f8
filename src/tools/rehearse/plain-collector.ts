import type { Clock } from '../../base/clock.js';
import { isSuccess } from '../../kube/client/api-client.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, itemsOf, uidOf } from './api-connection.js';
import { type PlainController, PlainDiscovery } from './plain-controller.js';

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
 * Deletes objects whose owners are gone, as a garbage collector does that was written for a control
 * plane of one version, such as that of kube-controller-manager. It finds the kind of an owner by
 * discovery, and owners by listing that kind. It gets an owner that is not in the list by name, and
 * takes a 404 as "the owner does not exist". The garbage collector of the embedded server
 * (src/apiserver/controllers) does not.
 *
 * It handles the ConfigMaps of one namespace, the dependents of a rehearsal; their owners may be without a namespace. It lists where the real
 * one watches, which has the same effect a little later.
 */
export class PlainCollector implements PlainController {
  readonly everyMs = 700;
  readonly #api: Api;
  readonly #namespace: string;
  readonly #discovery: PlainDiscovery;
  /** UIDs of owners in the last list of each kind that succeeded. */
  readonly #seen = new Map<string, Set<string>>();
  /** UIDs of owners that were not found: one 404 is enough for all dependents of an owner. */
  readonly #absent = new Set<string>();

  constructor(api: Api, clock: Clock, namespace: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#discovery = new PlainDiscovery(api, clock, REFRESH_MS);
  }

  /** Checks every dependent once. Rejects if discovery or dependents cannot be read. */
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
      .map((each) => ({ name: nameOf(each), uid: uidOf(each), owners: ownersOf(each) }))
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
    // Discovery lacks the kind now: no request is possible, so this controller waits too.
    if (!kind || this.#seen.get(kind.key)?.has(owner.uid)) return false;
    const answer = await this.#api.request({ method: 'GET', target: pathOf(kind, this.#namespace, owner.name) });
    const isGone = answer.status === 404 || (isSuccess(answer) && uidOf(answer.body) !== owner.uid);
    if (isGone) {
      if (this.#absent.size >= ABSENT_MAX) this.#absent.clear();
      this.#absent.add(owner.uid);
    }
    return isGone;
  }

  /** Remembers which owners of a kind exist, if the list succeeds. */
  async #see(kind: ResourceKind): Promise<void> {
    const answer = await this.#api.request({ method: 'GET', target: pathOf(kind, this.#namespace) });
    if (isSuccess(answer)) this.#seen.set(kind.key, new Set(itemsOf(answer).map(uidOf)));
  }
}

function ownerKinds(dependents: readonly Dependent[], kinds: readonly ResourceKind[]): Set<ResourceKind> {
  return new Set(dependents.flatMap(({ owners }) => owners.flatMap((owner) => kindOf(owner, kinds) ?? [])));
}

function kindOf(owner: Owner, kinds: readonly ResourceKind[]): ResourceKind | undefined {
  return kinds.find((each) => each.kind === owner.kind && apiVersionOf(each) === owner.apiVersion);
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

import type { Clock } from '../../base/clock.js';
import { eachBounded } from '../../base/each-bounded.js';
import { type ApiAnswer, isSuccess } from '../../kube/client/api-client.js';
import { type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { NAMESPACES, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, itemsOf } from './api-connection.js';
import { type PlainController, PlainDiscovery } from './plain-controller.js';

const REFRESH_MS = 1_000;
const NAMESPACES_AT_ONCE_MAX = 4;
const REQUESTS_AT_ONCE_MAX = 4;
const PAGE_ITEMS = 500;

/**
 * Empties namespaces that are being deleted and finalizes them, as a namespace controller does that
 * was written for a control plane of one version, such as that of kube-controller-manager. It finds
 * resources by discovery, and takes a 404 or 405 for a collection as "there are no objects". The
 * namespace controller of the embedded server (src/apiserver/controllers) does not.
 *
 * Differences to the real one: it lists before it deletes, which saves requests; it retries sooner;
 * and it handles only namespaces with a prefix, because a rehearsal may run on shared servers.
 */
export class PlainNamespaces implements PlainController {
  readonly everyMs = 400;
  readonly #api: Api;
  readonly #prefix: string;
  readonly #discovery: PlainDiscovery;

  constructor(api: Api, clock: Clock, prefix: string) {
    this.#api = api;
    this.#prefix = prefix;
    this.#discovery = new PlainDiscovery(api, clock, REFRESH_MS);
  }

  /** Checks every namespace once. Rejects if namespaces cannot be listed. */
  async round(): Promise<void> {
    const answer = await this.#api.request({ method: 'GET', target: pathOf(NAMESPACES, '') });
    if (!isSuccess(answer)) throw new Error(`namespaces cannot be listed: ${answer.status}`);
    const leaving = itemsOf(answer).filter(
      (each) => nameOf(each).startsWith(this.#prefix) && metadataOf(each)['deletionTimestamp'] !== undefined,
    );
    await eachBounded(leaving, NAMESPACES_AT_ONCE_MAX, async (namespace) => {
      if (await this.#empty(nameOf(namespace)).catch(() => false)) await this.#finalize(namespace).catch(() => {});
    });
  }

  /** Resolves with whether no objects are found any more. Rejects on replies such as 503. */
  async #empty(namespace: string): Promise<boolean> {
    const kinds = preferred(await this.#discovery.kinds());
    const left = await eachBounded(kinds, REQUESTS_AT_ONCE_MAX, (kind) => this.#deleteAll(kind, namespace));
    return left.every((count) => count === 0);
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
    const spec = objectMember(namespace, 'spec');
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

/** The mistake of plain controllers: a server that does not serve the resource sends the same reply. */
function isNothingThere({ status }: ApiAnswer): boolean {
  return status === 404 || status === 405;
}

/** Returns one version of each resource whose objects can be deleted. */
function preferred(kinds: readonly ResourceKind[]): ResourceKind[] {
  const found = new Map<string, ResourceKind>();
  for (const kind of kinds) {
    const place = `${kind.group}/${kind.resource}`;
    if (kind.namespaced && kind.verbs.has('delete') && kind.verbs.has('list') && !found.has(place))
      found.set(place, kind);
  }
  return [...found.values()];
}

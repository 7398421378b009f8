import { isSuccess } from '../../kube/client/api-client.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf } from '../../kube/resource-kind.js';
import { type Api, itemsOf, uidOf } from './api-connection.js';
import type { Count } from './rehearsal-result.js';
import { allOf, create, createSkewed, insist, type Stage } from './scene.js';
import type { Skew } from './skew.js';

const OWNERS_MAX = 150;
const DEPENDENTS_EACH = 2;
const LIST_ITEMS_MAX = 2_000;

interface Owner {
  readonly skew: Skew;
  readonly name: string;
  readonly uid: string;
  /** Names by UID of the dependents that were present at the last inspection. */
  readonly dependents: Map<string, string>;
  collectedByMistake: number;
  /** `unsure`: a delete was sent and not acknowledged. */
  standing: 'alive' | 'deleted' | 'unsure';
}

/** Owners of the skewed kinds in turn; their common dependents may be deleted only after them. */
export class OwnersScene {
  readonly #stage: Stage;
  readonly #owners: Owner[] = [];
  #made = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Creates owners straight at a server with the kind. Rejects if it is stopping. */
  async make(owners: number): Promise<void> {
    const api = this.#stage.straight.serving();
    if (!api) return;
    await allOf(Math.min(owners, OWNERS_MAX - this.#owners.length), () => this.#makeOne(api));
  }

  async #makeOne(api: Api): Promise<void> {
    const { skews, prefix, namespace } = this.#stage;
    const skew = skews[this.#made % skews.length];
    if (!skew) return;
    const name = `${prefix}-owner-${++this.#made}`;
    const uid = await createSkewed(api, skew, namespace, name);
    const owner = { apiVersion: apiVersionOf(skew.kind), kind: skew.kind.kind, name, uid };
    const dependents = new Map<string, string>();
    for (let each = 1; each <= DEPENDENTS_EACH; each++) {
      const metadata = { name: `${name}-dependent-${each}`, ownerReferences: [owner] };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      const made = await create(api, pathOf(CONFIG_MAPS, namespace), body);
      dependents.set(uidOf(made), metadata.name);
    }
    this.#owners.push({ skew, name, uid, dependents, collectedByMistake: 0, standing: 'alive' });
  }

  /** Deletes an owner through the front door. Its dependents should be collected from then on. */
  async deleteOldest(): Promise<void> {
    const { client, namespace, truth } = this.#stage;
    const owner = this.#owners.find(
      ({ standing, collectedByMistake }) => standing === 'alive' && collectedByMistake === 0,
    );
    if (!owner) return;
    owner.standing = 'unsure';
    const { skew } = owner;
    const target = pathOf(skew.kind, namespace, owner.name);
    const exists = (): boolean => truth.serves(skew.kind.key);
    const ask = () => client.request({ method: 'DELETE', target }, { share: 'skewed', exists });
    if (await insist(this.#stage, ask, isSuccess)) owner.standing = 'deleted';
  }

  /** Compares the dependents with the expected ones, at a server with the owners' kind. */
  async inspect(): Promise<void> {
    const { straight, namespace } = this.#stage;
    const api = straight.serving();
    if (!api) return;
    // Copied before the request: owners created after it have dependents that the reply cannot contain.
    const owners = [...this.#owners];
    const answer = await api.request({
      method: 'GET',
      target: `${pathOf(CONFIG_MAPS, namespace)}?limit=${LIST_ITEMS_MAX}`,
    });
    if (!isSuccess(answer)) return;
    const present = new Set(itemsOf(answer).map(uidOf));
    for (const owner of owners) {
      const missing = [...owner.dependents].filter(([uid]) => !present.has(uid));
      if (missing.length === 0) continue;
      if (owner.standing === 'alive' && (await this.#isAlive(owner))) this.#blame(owner, missing);
      if (owner.standing !== 'alive') for (const [uid] of missing) owner.dependents.delete(uid);
    }
  }

  get collectedByMistake(): Count {
    const watched = this.#owners.filter(
      ({ standing, collectedByMistake }) => standing === 'alive' || collectedByMistake > 0,
    );
    const bad = watched.reduce((sum, each) => sum + each.collectedByMistake, 0);
    return { bad, of: watched.length * DEPENDENTS_EACH };
  }

  get notCollected(): Count {
    const deleted = this.#owners.filter(({ standing }) => standing === 'deleted');
    const bad = deleted.reduce((sum, { dependents }) => sum + dependents.size, 0);
    return { bad, of: deleted.length * DEPENDENTS_EACH };
  }

  /** Called after dependents were found missing: an owner that exists now existed then. */
  async #isAlive({ skew, name, uid }: Owner): Promise<boolean> {
    const { straight, namespace } = this.#stage;
    const api = straight.serving();
    const answer = await api?.request({ method: 'GET', target: pathOf(skew.kind, namespace, name) });
    if (answer?.status !== 200 || uidOf(answer.body) !== uid) return false;
    return metadataOf(answer.body)['deletionTimestamp'] === undefined;
  }

  #blame(owner: Owner, missing: readonly (readonly [string, string])[]): void {
    const { record } = this.#stage;
    for (const [uid, name] of missing) {
      owner.dependents.delete(uid);
      owner.collectedByMistake += 1;
      const text = `ConfigMap ${name} is gone, and its owner, the ${owner.skew.kind.kind} ${owner.name}, exists`;
      record.example('collected-by-mistake', text);
    }
  }
}

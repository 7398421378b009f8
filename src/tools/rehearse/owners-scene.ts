import { metadataOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf } from '../../kube/resource-kind.js';
import { type Api, isSuccess } from './api-connection.js';
import { count } from './half-record.js';
import { insist } from './insistent-send.js';
import { itemsOf } from './plain-namespaces.js';
import type { Count } from './rehearsal-result.js';
import { allOf, create, createSkewed, type Stage, uidOf } from './scene.js';

const OWNERS_MAX = 150;
const DEPENDENTS_EACH = 2;
const LIST_ITEMS_MAX = 2_000;

interface Owner {
  readonly name: string;
  readonly uid: string;
  /** Names by uid; those that are there as far as was seen. */
  readonly dependents: Map<string, string>;
  readonly dependentsMade: number;
  collectedByMistake: number;
  /** `unsure`: deletion was asked for and never acknowledged. */
  standing: 'alive' | 'deleted' | 'unsure';
}

/** Owners of the skewed kind with dependents of a common kind: dependents go when, and only when, their owner goes. */
export class OwnersScene {
  readonly #stage: Stage;
  readonly #owners: Owner[] = [];
  #made = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Straight at a server that knows the kind; rejects where that one is just going away. */
  async make(owners: number): Promise<void> {
    const api = this.#stage.straight.serving();
    if (!api) return;
    await allOf(Math.min(owners, OWNERS_MAX - this.#owners.length), () => this.#makeOne(api));
  }

  async #makeOne(api: Api): Promise<void> {
    const { skew, prefix, namespace } = this.#stage;
    const name = `${prefix}-owner-${++this.#made}`;
    const uid = await createSkewed(api, skew, namespace, name);
    const owner = { apiVersion: apiVersionOf(skew.kind), kind: skew.kind.kind, name, uid };
    const dependents = new Map<string, string>();
    for (let each = 1; each <= DEPENDENTS_EACH; each++) {
      const metadata = { name: `${name}-dependent-${each}`, ownerReferences: [owner] };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      const made = await create(api, pathOf(CONFIG_MAPS, namespace), body);
      dependents.set(String(metadataOf(made)['uid'] ?? ''), metadata.name);
    }
    this.#owners.push({
      name,
      uid,
      dependents,
      dependentsMade: DEPENDENTS_EACH,
      collectedByMistake: 0,
      standing: 'alive',
    });
  }

  /** Through the front door: from then on the dependents of this owner should go. */
  async deleteOldest(): Promise<void> {
    const { client, clock, signal, skew, namespace, truth } = this.#stage;
    const owner = this.#owners.find(
      ({ standing, collectedByMistake }) => standing === 'alive' && collectedByMistake === 0,
    );
    if (!owner) return;
    owner.standing = 'unsure';
    const target = pathOf(skew.kind, namespace, owner.name);
    const exists = (): boolean => truth.serves(skew.kind.key);
    const ask = () => client.request({ method: 'DELETE', target }, { share: 'skewed', exists });
    if (await insist(clock, signal, ask, isSuccess)) owner.standing = 'deleted';
  }

  /** Compares what is there with what should be. Proof comes from a server that knows the owners' kind. */
  async inspect(): Promise<void> {
    const { straight, namespace } = this.#stage;
    const api = straight.serving();
    if (!api) return;
    // Before the question: what is made meanwhile can't be in the answer.
    const owners = [...this.#owners];
    const answer = await api.request({
      method: 'GET',
      target: `${pathOf(CONFIG_MAPS, namespace)}?limit=${LIST_ITEMS_MAX}`,
    });
    if (!isSuccess(answer)) return;
    const present = new Set(itemsOf(answer).map((each) => String(metadataOf(each)['uid'] ?? '')));
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
    return count(
      watched.reduce((sum, each) => sum + each.collectedByMistake, 0),
      watched.reduce((sum, each) => sum + each.dependentsMade, 0),
    );
  }

  get notCollected(): Count {
    const deleted = this.#owners.filter(({ standing }) => standing === 'deleted');
    return count(
      deleted.reduce((sum, { dependents }) => sum + dependents.size, 0),
      deleted.reduce((sum, { dependentsMade }) => sum + dependentsMade, 0),
    );
  }

  /** Asked after its dependents were found missing: it was there then if it is there now. */
  async #isAlive({ name, uid }: Owner): Promise<boolean> {
    const { straight, skew, namespace } = this.#stage;
    const api = straight.serving();
    const answer = await api?.request({ method: 'GET', target: pathOf(skew.kind, namespace, name) });
    return (
      answer?.status === 200 && uidOf(answer) === uid && metadataOf(answer.body)['deletionTimestamp'] === undefined
    );
  }

  #blame(owner: Owner, missing: readonly (readonly [string, string])[]): void {
    const { record, skew } = this.#stage;
    for (const [uid, name] of missing) {
      owner.dependents.delete(uid);
      owner.collectedByMistake += 1;
      record.example(
        'collected-by-mistake',
        `ConfigMap ${name} is gone, and its owner, the ${skew.kind.kind} ${owner.name}, exists`,
      );
    }
  }
}

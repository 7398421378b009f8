import { type ApiAnswer, isSuccess } from '../../kube/client/api-client.js';
import { nameOf } from '../../kube/metadata-of.js';
import { CONFIG_MAPS, NAMESPACES, pathOf } from '../../kube/resource-kind.js';
import { type Api, itemsOf, uidOf } from './api-connection.js';
import type { Count } from './rehearsal-result.js';
import { allOf, create, createSkewed, insist, type Stage } from './scene.js';
import type { Skew } from './skew.js';

const NAMESPACES_MAX = 80;
const OBJECTS_EACH = 2;
/** If more namespaced resources differ, namespaces take turns. */
const RESOURCES_EACH_MAX = 4;

interface Doomed {
  readonly name: string;
  /** The resources of its objects. */
  readonly skews: readonly Skew[];
  /** UIDs of its objects of the skewed kinds. */
  readonly uids: ReadonlySet<string>;
  /** `leaving`: the delete was acknowledged. */
  standing: 'there' | 'leaving' | 'ended well' | 'ended early';
  /** Whether it was gone and has been created again for the proof. */
  isMadeAgain: boolean;
}

/** Namespaces that are deleted and may disappear only after their objects. */
export class NamespacesScene {
  readonly #stage: Stage;
  /** The namespaced ones. */
  readonly #skews: readonly Skew[];
  readonly #namespaces: Doomed[] = [];
  #made = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#skews = stage.skews.filter(({ kind }) => kind.namespaced);
  }

  /** Creates namespaces straight at a server with the kind. Rejects if it is stopping. */
  async make(namespaces: number): Promise<void> {
    const api = this.#stage.straight.serving();
    if (!api || this.#skews.length === 0) return;
    await allOf(Math.min(namespaces, NAMESPACES_MAX - this.#namespaces.length), () => this.#makeOne(api));
  }

  async #makeOne(api: Api): Promise<void> {
    const { prefix } = this.#stage;
    const skews = this.#skewsOf(this.#made);
    const name = `${prefix}-doomed-${++this.#made}`;
    await create(api, pathOf(NAMESPACES, ''), namespaceNamed(name));
    const metadata = { name: 'common' };
    await create(api, pathOf(CONFIG_MAPS, name), { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const uids = new Set<string>();
    for (let each = 0; each < Math.max(OBJECTS_EACH, skews.length); each++) {
      uids.add(await createSkewed(api, skews[each % skews.length]!, name, `object-${each + 1}`));
    }
    this.#namespaces.push({ name, skews, uids, standing: 'there', isMadeAgain: false });
  }

  #skewsOf(turn: number): Skew[] {
    const all = this.#skews;
    const count = Math.min(all.length, RESOURCES_EACH_MAX);
    return Array.from({ length: count }, (_, index) => all[(turn * count + index) % all.length]!);
  }

  /** Deletes a namespace through the front door. */
  async deleteOldest(): Promise<void> {
    const { client } = this.#stage;
    const doomed = this.#namespaces.find(({ standing }) => standing === 'there');
    if (!doomed) return;
    const target = pathOf(NAMESPACES, '', doomed.name);
    const ask = () => client.request({ method: 'DELETE', target }, { share: 'common', exists: () => false });
    // 404 and 409: an earlier try was processed after all.
    const isTaken = (answer: ApiAnswer): boolean => isSuccess(answer) || answer.status === 404 || answer.status === 409;
    if (await insist(this.#stage, ask, isTaken)) doomed.standing = 'leaving';
  }

  /** The number of namespaces that no delete was sent for. */
  get waiting(): number {
    return this.#namespaces.filter(({ standing }) => standing === 'there').length;
  }

  get leaving(): number {
    return this.#namespaces.filter(({ standing }) => standing === 'leaving').length;
  }

  /** Finds namespaces that are gone, and objects of theirs that are not. */
  async inspect(): Promise<void> {
    const api = this.#stage.straight.serving();
    if (!api || this.leaving === 0) return;
    const answer = await api.request({ method: 'GET', target: pathOf(NAMESPACES, '') });
    if (!isSuccess(answer)) return;
    const present = new Set(itemsOf(answer).map(nameOf));
    for (const doomed of this.#namespaces)
      if (doomed.standing === 'leaving' && (doomed.isMadeAgain || !present.has(doomed.name)))
        await this.#prove(api, doomed);
  }

  get endedEarly(): Count {
    const ended = this.#namespaces.filter(({ standing }) => standing.startsWith('ended'));
    return { bad: ended.filter(({ standing }) => standing === 'ended early').length, of: ended.length };
  }

  /** Final only after the last inspection. */
  get stuck(): Count {
    return { bad: this.leaving, of: this.#namespaces.length - this.waiting };
  }

  /** Records an example for each namespace that is stuck. */
  recordStuck(): void {
    for (const { name, standing } of this.#namespaces)
      if (standing === 'leaving')
        this.#stage.record.example('namespace-stuck', `namespace ${name} is still being deleted`);
  }

  /** Deletes everything that was created, if a server serves the kind. */
  async tidy(): Promise<void> {
    const api = this.#stage.straight.serving();
    for (const { name, skews } of this.#namespaces) {
      for (const { kind } of skews) await api?.request({ method: 'DELETE', target: pathOf(kind, name) });
      await api?.request({ method: 'DELETE', target: pathOf(NAMESPACES, '', name) });
    }
  }

  /** Creates a namespace of the same name: objects of the old one in it were left behind in the store. */
  async #prove(api: Api, doomed: Doomed): Promise<void> {
    const { record } = this.#stage;
    if (!doomed.isMadeAgain) await create(api, pathOf(NAMESPACES, ''), namespaceNamed(doomed.name));
    doomed.isMadeAgain = true;
    const back: string[] = [];
    for (const { name, kind } of doomed.skews) {
      const answer = await api.request({ method: 'GET', target: pathOf(kind, doomed.name) });
      if (!isSuccess(answer)) throw new Error(`${name} cannot be listed: ${answer.status}`);
      const count = itemsOf(answer).filter((each) => doomed.uids.has(uidOf(each))).length;
      if (count > 0) back.push(`${count} old objects of ${name}`);
    }
    doomed.standing = back.length === 0 ? 'ended well' : 'ended early';
    if (back.length === 0) return;
    const text = `namespace ${doomed.name} was gone, made again, and has ${back.join(' and ')} in it`;
    record.example('namespace-ended-early', text);
  }
}

function namespaceNamed(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

import { CONFIG_MAPS, NAMESPACES, pathOf, type ResourceKind } from '../../../src/kube/resource-kind.js';
import { ApiClient } from '../../real/rig/api-client.js';
import { eventually } from '../../real/rig/eventually.js';
import type { Endpoint, KubeObject } from '../../real/rig/http-client.js';
import { ownedBy } from '../../real/scenarios/controllers/owners.js';
import { newerObject } from './newer-object.js';

const OWNERS = 5;
const NAMESPACE_TIMEOUT_MS = 60_000;
const COLLECTION_TIMEOUT_MS = 60_000;

/**
 * Objects whose fate the garbage collector and the namespace controller decide: ConfigMaps that objects of the newer API own, ConfigMaps
 * whose owner is deleted, and a namespace full of objects of the newer API that is deleted. `capable` is a server that has the newer API.
 */
export class ControllerScene {
  readonly #api: ApiClient;
  readonly #kept: string;
  readonly #passing: string;
  readonly #dependents: string[] = [];

  private constructor(
    capable: Endpoint,
    private readonly kind: ResourceKind,
    label: string,
  ) {
    this.#api = new ApiClient(capable);
    this.#kept = `kept-${label}`;
    this.#passing = `passing-${label}`;
  }

  static async start(capable: Endpoint, kind: ResourceKind, label: string): Promise<ControllerScene> {
    const scene = new ControllerScene(capable, kind, label);
    await scene.#create();
    return scene;
  }

  /** What the controllers did wrong by now. Waits for what they have to do. */
  async harm(): Promise<string[]> {
    const undone = [...(await this.#notCollected()), ...(await this.#leftInNamespace())];
    // The garbage collector has looked at the later ones by now.
    const lost: string[] = [];
    for (const path of this.#dependents) if (!(await this.#exists(path))) lost.push(path);
    return [...lost.map((path) => `${path} was deleted although its owner exists`), ...undone];
  }

  async end(): Promise<void> {
    const collection = pathOf(this.kind, this.#kept);
    for (const { metadata } of await this.#api.list(collection)) await this.#remove(`${collection}/${metadata?.name}`);
    await this.#remove(pathOf(NAMESPACES, '', this.#kept));
    this.#api.close();
  }

  async #create(): Promise<void> {
    const { kind } = this;
    for (const name of [this.#kept, this.#passing]) await this.#make(pathOf(NAMESPACES, ''), { metadata: { name } });
    for (let i = 0; i < OWNERS; i++) {
      const owner = await this.#make(pathOf(kind, this.#kept), newerObject(kind, `owner-${i}`));
      await this.#dependentOf(owner, `of-newer-${i}`);
      this.#dependents.push(pathOf(CONFIG_MAPS, this.#kept, `of-newer-${i}`));
      await this.#make(pathOf(kind, this.#passing), newerObject(kind, `left-${i}`));
      await this.#make(pathOf(CONFIG_MAPS, this.#passing), { metadata: { name: `left-${i}` } });
    }
    const plain = await this.#make(pathOf(CONFIG_MAPS, this.#kept), { metadata: { name: 'owner' } });
    await this.#dependentOf({ ...plain, apiVersion: 'v1', kind: 'ConfigMap' }, 'of-plain');
    await this.#remove(pathOf(CONFIG_MAPS, this.#kept, 'owner'));
    await this.#remove(pathOf(NAMESPACES, '', this.#passing));
  }

  /** These three ask again where the outcome is not known: what they do is no measurement. */
  #make(collection: string, body: KubeObject): Promise<KubeObject> {
    return eventually(`${collection}/${body.metadata?.name} is created`, async () => {
      const path = `${collection}/${body.metadata?.name}`;
      return (await this.#api.exists(path)) ? this.#api.get(path) : this.#api.create(collection, body);
    });
  }

  async #remove(path: string): Promise<void> {
    await eventually(`${path} is deleted`, async () => {
      if (await this.#api.exists(path)) await this.#api.remove(path);
      return true;
    });
  }

  async #exists(path: string): Promise<boolean> {
    const found = await eventually(`${path} is looked for`, async () => ({ exists: await this.#api.exists(path) }));
    return found.exists;
  }

  async #dependentOf(owner: KubeObject, name: string): Promise<void> {
    await this.#make(pathOf(CONFIG_MAPS, this.#kept), { metadata: { name, ...ownedBy(owner) } });
  }

  async #notCollected(): Promise<string[]> {
    const path = pathOf(CONFIG_MAPS, this.#kept, 'of-plain');
    const isGone = async () => !(await this.#api.exists(path));
    return eventually(`${path} is collected`, isGone, { timeoutMs: COLLECTION_TIMEOUT_MS }).then(
      () => [],
      () => [`${path} was not collected although its owner is gone`],
    );
  }

  async #leftInNamespace(): Promise<string[]> {
    const name = this.#passing;
    const isGone = async () => !(await this.#api.exists(pathOf(NAMESPACES, '', name)));
    const wasEmptied = await eventually(`namespace ${name} is gone`, isGone, { timeoutMs: NAMESPACE_TIMEOUT_MS }).catch(
      () => false,
    );
    if (!wasEmptied) return [`namespace ${name} is still there`];
    // Of all namespaces: a list in one that is gone is empty.
    const all = await this.#api.list(pathOf(this.kind, ''));
    return all
      .filter(({ metadata }) => metadata?.namespace === name)
      .map(({ metadata }) => `${this.kind.kind} ${metadata?.name} is stored although its namespace ${name} is gone`);
  }
}

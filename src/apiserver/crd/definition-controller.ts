import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { JsonObject } from '../../kube/json.js';
import { timestamp } from '../../kube/timestamp.js';
import type { InternalClient } from '../contracts/internal-client.js';
import { customResourcePrefix } from '../registry/storage-layout.js';
import type { TypeRegistry } from '../registry/type-registry.js';
import type { Caches } from '../watch/caches.js';
import { type Definition, readDefinition } from './definition.js';
import { hasReservedName } from './definition-status.js';
import { DEFINITIONS } from './definition-watch.js';
import { settleDefinitions } from './settle-definitions.js';

export interface DefinitionControllerOptions {
  readonly caches: Caches;
  readonly client: InternalClient;
  readonly registry: Pick<TypeRegistry, 'find'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Delay after a change, so that definitions created together are settled together. */
const SETTLE_MS = 5;
/** Retry interval after a failure, and polling interval during the deletion of custom resources. */
const LOOK_AGAIN_MS = 250;

/**
 * Accepts names, sets conditions, and ends definitions whose custom resources are deleted. Every server
 * runs one; the second writer gets a conflict, and finds the change made.
 */
export class DefinitionController {
  readonly #options: DefinitionControllerOptions;
  readonly #stop: () => void;
  #cancel: (() => void) | undefined;
  #running = false;
  #again = false;
  #closed = false;

  constructor(options: DefinitionControllerOptions) {
    this.#options = options;
    this.#stop = options.caches.onChange(DEFINITIONS, () => this.#soon(SETTLE_MS));
  }

  /** Resolves when the stored definitions have been settled. */
  async start(): Promise<void> {
    await this.#settle();
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    this.#cancel?.();
  }

  #soon(delayMs: number): void {
    if (this.#closed) return;
    this.#cancel?.();
    this.#cancel = this.#options.clock.after(delayMs, () => void this.#settle());
  }

  async #settle(): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    try {
      await this.#settleOnce();
    } catch (error) {
      this.#options.logger.warn('the status of CustomResourceDefinitions could not be updated; retrying', { error });
      this.#soon(LOOK_AGAIN_MS);
    }
    this.#running = false;
    if (!this.#again) return;
    this.#again = false;
    this.#soon(SETTLE_MS);
  }

  async #settleOnce(): Promise<void> {
    const { caches, client, clock } = this.#options;
    const now = timestamp(clock.nowMs());
    const definitions = caches.list(DEFINITIONS);
    await this.#loadInstances(definitions);
    const { updates, cleanups } = settleDefinitions(definitions, {
      now,
      countInstances: (definition) => caches.of(prefixOf(definition)).size,
    });
    for (const definition of cleanups) await this.#deleteInstances(definition);
    for (const object of updates) {
      const name = String((object['metadata'] as JsonObject)['name']);
      const { status, body } = await client.request('PUT', `${PATH}/${encodeURIComponent(name)}/status`, object);
      if (status >= 400 && status !== 404 && status !== 409) {
        this.#options.logger.warn("a definition's status could not be written", { name, why: String(body['message']) });
      }
    }
    if (cleanups.length > 0) this.#soon(LOOK_AGAIN_MS);
  }

  /** Loads the caches of the definitions that are being deleted, which no request may have used so far. */
  async #loadInstances(definitions: readonly JsonObject[]): Promise<void> {
    const ending = definitions
      .filter((crd) => (crd['metadata'] as JsonObject)['deletionTimestamp'] !== undefined)
      .map(readDefinition)
      .filter((definition) => !hasReservedName(definition));
    await Promise.all(ending.map((definition) => this.#options.caches.of(prefixOf(definition)).ready()));
  }

  /**
   * Deletes namespace by namespace: no request deletes in all of them. Uses only a version that this
   * definition serves: the same path in a built-in version would delete built-in objects.
   */
  async #deleteInstances(definition: Definition): Promise<void> {
    const { group, names, scope, versions } = definition;
    const prefix = prefixOf(definition);
    const served = versions.find(({ name }) => {
      const type = this.#options.registry.find(group, name, names.plural);
      return type?.origin === 'custom' && type.storage.prefix === prefix;
    });
    if (!served) return;
    const root = `/apis/${group}/${served.name}`;
    const { client } = this.#options;
    if (scope !== 'Namespaced') {
      await client.request('DELETE', `${root}/${names.plural}`);
      return;
    }
    for (const namespace of this.#namespacesOf(prefix)) {
      await client.request('DELETE', `${root}/namespaces/${encodeURIComponent(namespace)}/${names.plural}`);
    }
  }

  #namespacesOf(prefix: string): Set<string> {
    const namespaces = new Set<string>();
    for (const { key } of this.#options.caches.of(prefix).range(prefix)) {
      namespaces.add(key.slice(prefix.length).split('/', 1)[0]!);
    }
    return namespaces;
  }
}

function prefixOf({ group, names }: Definition): string {
  return customResourcePrefix({ group, resource: names.plural });
}

import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { timestamp } from '../../kube/timestamp.js';
import type { InternalClient } from '../contracts/internal-client.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { TypeRegistry } from '../registry/type-registry.js';
import { API_SERVICES } from './api-service.js';
import { AUTOMANAGED_LABEL, type LocalGroupVersion, localApiServices } from './local-api-services.js';

export interface LocalServiceKeeperOptions {
  readonly objects: ObjectReader;
  readonly registry: TypeRegistry;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PATH = '/apis/apiregistration.k8s.io/v1/apiservices';
const SETTLE_MS = 50;

/**
 * Creates an APIService object for every group-version that this server serves itself, as
 * kube-apiserver does. Those of definitions are deleted with their definition; those of built-in
 * groups stay, because another server may still serve them.
 */
export class LocalServiceKeeper {
  readonly #options: LocalServiceKeeperOptions;
  readonly #stop: () => void;
  #cancel: (() => void) | undefined;

  constructor(options: LocalServiceKeeperOptions) {
    this.#options = options;
    this.#stop = options.registry.onChange(() => this.soon());
  }

  soon(): void {
    this.#cancel ??= this.#options.clock.after(SETTLE_MS, () => {
      this.#cancel = undefined;
      void this.#sync().catch((error: unknown) =>
        this.#options.logger.warn('local APIServices could not be kept', { error }),
      );
    });
  }

  close(): void {
    this.#stop();
    this.#cancel?.();
  }

  async #sync(): Promise<void> {
    const { objects, client, clock } = this.#options;
    const now = timestamp(clock.nowMs());
    const wanted = new Map(localApiServices(this.#groupVersions(), now).map((each) => [nameOf(each), each]));
    const present = new Map(objects.list(API_SERVICES).map((each) => [nameOf(each), each]));
    for (const [name, object] of wanted) {
      if (present.has(name)) continue;
      const { status, body } = await client.request('POST', PATH, object);
      if (status === 201) await client.request('PUT', `${PATH}/${name}/status`, { ...body, status: object['status']! });
    }
    for (const [name, object] of present) {
      if (wanted.has(name) || labelOf(object) !== 'true') continue;
      await client.request('DELETE', `${PATH}/${name}`);
    }
  }

  #groupVersions(): LocalGroupVersion[] {
    const { types, virtual } = this.#options.registry;
    const found = new Map<string, LocalGroupVersion>();
    for (const { group, version } of virtual) found.set(`${group}/${version}`, { group, version, origin: 'built-in' });
    for (const { group, version, origin } of types) found.set(`${group}/${version}`, { group, version, origin });
    return [...found.values()];
  }
}

function labelOf(object: JsonObject): string | undefined {
  const { labels } = metadataOf(object);
  return isObject(labels) ? (labels[AUTOMANAGED_LABEL] as string | undefined) : undefined;
}

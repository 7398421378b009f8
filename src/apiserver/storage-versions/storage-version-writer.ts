import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { timestamp } from '../../kube/timestamp.js';
import type { InternalClient } from '../contracts/internal-client.js';
import type { TypeRegistry } from '../registry/type-registry.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import type { Caches } from '../watch/caches.js';
import { apiServerId } from './api-server-id.js';
import { DepartedServers, LEASE_NAMESPACE, LEASES } from './departed-servers.js';
import {
  entriesOf,
  type ServerStorageVersion,
  sameEntries,
  settledEntries,
  storedResources,
  withEntries,
} from './storage-version.js';

export interface StorageVersionWriterOptions {
  readonly serverName: string;
  /** Without a lease of its own a server is in no position to judge those of others. */
  readonly keepsLease: boolean;
  readonly registry: TypeRegistry;
  readonly caches: Caches;
  readonly client: InternalClient;
  readonly surface: Pick<BuiltInSurface, 'groups'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const GROUP = 'internal.apiserver.k8s.io';
const VERSION = 'v1alpha1';
const STORAGE_VERSIONS = { group: GROUP, resource: 'storageversions' };
const PATH = `/apis/${GROUP}/${VERSION}/storageversions`;

/** Definitions come in crowds. */
const SOON_MS = 50;
/** Leases run out without a word. */
const LOOK_EVERY_MS = 5_000;

/**
 * Says in StorageVersion objects in which version this server writes each resource and which it can read, and takes out
 * what servers said that are gone: only when all agree on a version may everything be rewritten in it. Does nothing where
 * that API is not served (it is off by default).
 */
export class StorageVersionWriter {
  readonly #options: StorageVersionWriterOptions;
  readonly #id: string;
  readonly #departed = new DepartedServers();
  readonly #cancels: (() => void)[] = [];
  #cancelNext: () => void = () => {};
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(options: StorageVersionWriterOptions) {
    this.#options = options;
    // As the server's lease has it.
    this.#id = apiServerId(options.serverName.toLowerCase());
  }

  async start(): Promise<void> {
    const { registry, caches } = this.#options;
    if (!registry.find(GROUP, VERSION, STORAGE_VERSIONS.resource)) return;
    await caches.load([STORAGE_VERSIONS, LEASES]);
    const soon = (): void => this.#lookIn(SOON_MS);
    this.#cancels.push(registry.onChange(soon), caches.onChange(STORAGE_VERSIONS, soon));
    soon();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancelNext();
    await this.#running;
  }

  #lookIn(delayMs: number): void {
    if (this.#closed) return;
    if (this.#running) {
      this.#again ||= delayMs === SOON_MS;
      return;
    }
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(delayMs, () => {
      this.#running = this.#look().finally(() => {
        this.#running = undefined;
        const isDue = this.#again;
        this.#again = false;
        this.#lookIn(isDue ? SOON_MS : LOOK_EVERY_MS);
      });
    });
  }

  async #look(): Promise<void> {
    const { registry, caches, surface, clock, keepsLease, logger } = this.#options;
    this.#departed.look(caches.list(LEASES, LEASE_NAMESPACE), clock.nowMs());
    const stored = storedResources(this.#id, registry.types, { groups: surface.groups, objects: caches });
    const isGone = (id: string): boolean => keepsLease && this.#departed.isGone(id);
    const names = new Set([...stored.keys(), ...caches.list(STORAGE_VERSIONS).map(nameOf)]);
    try {
      for (const name of names) {
        if (this.#closed) return;
        await this.#settle(name, stored.get(name), isGone);
      }
    } catch (error) {
      logger.warn('what this server stores could not be told; it is tried again', { error });
    }
  }

  async #settle(name: string, entry: ServerStorageVersion | undefined, isGone: (id: string) => boolean): Promise<void> {
    const { caches, client } = this.#options;
    const present = caches.get(STORAGE_VERSIONS, '', name);
    const before = present ? entriesOf(present) : [];
    const entries = settledEntries(before, { id: this.#id, entry }, isGone);
    if (present && entries.length === 0) {
      // Only if it is still as it was: somebody may have something to say in the meantime.
      const { uid, resourceVersion } = present['metadata'] as JsonObject;
      const preconditions = { uid: uid ?? '', resourceVersion: resourceVersion ?? '' };
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
      return this.#accept(name, await client.request('DELETE', `${PATH}/${name}`, options));
    }
    if (present && sameEntries(before, entries)) return;
    const object = present ?? (await this.#create(name));
    if (object) await this.#write(name, object, entries);
  }

  async #create(name: string): Promise<JsonObject | undefined> {
    const object = { kind: 'StorageVersion', apiVersion: `${GROUP}/${VERSION}`, metadata: { name }, spec: {} };
    const made = await this.#options.client.request('POST', PATH, object);
    if (made.status === 201) return made.body;
    this.#accept(name, made);
    return undefined;
  }

  async #write(name: string, object: JsonObject, entries: readonly ServerStorageVersion[]): Promise<void> {
    const { client, clock } = this.#options;
    const now = timestamp(clock.nowMs());
    const wanted = { ...withEntries(object, entries, now), kind: 'StorageVersion', apiVersion: `${GROUP}/${VERSION}` };
    this.#accept(name, await client.request('PUT', `${PATH}/${name}/status`, wanted));
  }

  /** Another server was faster: what it wrote brings this one back to look again. */
  #accept(name: string, { status, body }: { readonly status: number; readonly body: JsonObject }): void {
    if (status < 400 || status === 404 || status === 409) {
      this.#again ||= status >= 400;
      return;
    }
    const why = String(body['message']);
    this.#options.logger.warn('what this server stores could not be told', { name, why });
  }
}

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
  /** Whether this server has a lease. Without one it does not judge the leases of others. */
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

/** Delay after a change, so that definitions created together are written together. */
const SOON_MS = 50;
/** Polling interval, because the expiry of a lease causes no event. */
const LOOK_EVERY_MS = 5_000;

/**
 * Writes StorageVersion objects: the version in which this server writes each resource and the versions
 * that it can read. Removes the entries of departed servers: objects may be migrated to a version only
 * if all servers agree on it. Does nothing if that API is not served (it is off by default).
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
    // In lower case, as in the server's lease.
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
      logger.warn('StorageVersion objects could not be updated; retrying', { error });
    }
  }

  async #settle(name: string, entry: ServerStorageVersion | undefined, isGone: (id: string) => boolean): Promise<void> {
    const { caches, client } = this.#options;
    const present = caches.get(STORAGE_VERSIONS, '', name);
    const before = present ? entriesOf(present) : [];
    const entries = settledEntries(before, { id: this.#id, entry }, isGone);
    if (present && entries.length === 0) {
      // With preconditions: another server may add an entry in the meantime.
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

  /** After a conflict with another server, its write is read again. */
  #accept(name: string, { status, body }: { readonly status: number; readonly body: JsonObject }): void {
    if (status < 400 || status === 404 || status === 409) {
      this.#again ||= status >= 400;
      return;
    }
    const why = String(body['message']);
    this.#options.logger.warn('a StorageVersion object could not be written', { name, why });
  }
}

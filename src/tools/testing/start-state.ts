import { randomUUID } from 'node:crypto';
import type { Backend, KeyValue } from '../../apiserver/storage/backend.js';
import { StorageError } from '../../apiserver/storage/storage-error.js';
import { text } from '../../kube/fields.js';
import { type JsonObject, objectMember, parsedObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { ACCESS_LABEL } from './access.js';
import { isDefinition } from './crds.js';

const PAGE_KEYS = 1_000;
/** Bound on the passes: a client of the test that goes on writing is not waited for. */
const PASSES_MAX = 20;

export interface ResetOutcome {
  /** CustomResourceDefinitions that were put back or changed back. */
  readonly definitions: readonly JsonObject[];
  readonly goneDefinitions: readonly JsonObject[];
  /** The revision of the store that has the start state. */
  readonly revision: number;
}

/**
 * The stored objects at the start of a control plane. Objects that servers and controllers keep by themselves are left alone:
 * leases, APIServices of definitions, default service accounts.
 */
export class StartState {
  readonly #backend: Backend;
  #values: Map<string, Buffer>;

  private constructor(backend: Backend, values: Map<string, Buffer>) {
    this.#backend = backend;
    this.#values = values;
  }

  static async take(backend: Backend): Promise<StartState> {
    const all = await everything(backend);
    return new StartState(backend, new Map(all.map(({ key, value }) => [key.toString(), value])));
  }

  /**
   * Takes into the start state what is not a matter of one test: default roles, of which a server of another version has made its
   * own, and the objects behind the users of {@link ControlPlane.as}.
   */
  async adopt(): Promise<void> {
    const now = new Map((await everything(this.#backend)).map(({ key, value }) => [key.toString(), value]));
    for (const [key, value] of this.#values)
      if (!now.has(key) && hasLabel(parsedValue(value), ACCESS_LABEL)) this.#values.delete(key);
    for (const [key, value] of now) {
      const object = parsedValue(value);
      if (hasLabel(object, DEFAULTS_LABEL) || hasLabel(object, ACCESS_LABEL)) this.#values.set(key, value);
    }
  }

  /** Brings the start state back. Rejects if clients write faster than it can. */
  async restore(): Promise<ResetOutcome> {
    const definitions: JsonObject[] = [];
    const goneDefinitions: JsonObject[] = [];
    for (let pass = 1; pass <= PASSES_MAX; pass++) {
      const now = new Map((await everything(this.#backend)).map((each) => [each.key.toString(), each]));
      this.#renewUids(now);
      const extra = [...now].filter(([key, { value }]) => !this.#values.has(key) && !this.#isOfServers(key, value));
      const changed = [...this.#values].filter(([key, value]) => {
        const found = now.get(key);
        return !found?.value.equals(value) && !this.#isOfServers(key, value);
      });
      if (extra.length === 0 && changed.length === 0)
        return { definitions, goneDefinitions, revision: await this.#backend.currentRevision() };
      goneDefinitions.push(...extra.map(([, { value }]) => parsedValue(value)).filter(isDefinition));
      definitions.push(...changed.map(([, value]) => parsedValue(value)).filter(isDefinition));
      await Promise.all(extra.map(([, found]) => settled(this.#backend.delete(found.key, found.modRevision))));
      await Promise.all(changed.map(([key, value]) => settled(this.#write(key, value, now.get(key)))));
    }
    throw new Error('reset: something goes on writing objects; stop the program under test before.');
  }

  #write(key: string, value: Buffer, found: KeyValue | undefined): Promise<unknown> {
    return found ? this.#backend.update(key, value, found.modRevision) : this.#backend.create(key, value);
  }

  /** An object that was deleted is another one when it is there again: controllers remember the UIDs of deleted objects. */
  #renewUids(now: ReadonlyMap<string, KeyValue>): void {
    const lost = [...this.#values].filter(([key, value]) => {
      const found = now.get(key)?.value;
      return !found || (!found.equals(value) && uidOf(found) !== uidOf(value));
    });
    const uids = lost.map(([, value]) => uidOf(value)).filter((uid) => uid !== '');
    if (uids.length === 0) return;
    const renewed = new Map(uids.map((uid) => [uid, randomUUID() as string]));
    // Owner references name them too.
    this.#values = new Map(
      [...this.#values].map(([key, value]) => {
        const json = value.toString('utf8');
        const next = json.replace(UID, (uid) => renewed.get(uid) ?? uid);
        return [key, next === json ? value : Buffer.from(next)];
      }),
    );
  }

  #isOfServers(key: string, value: Buffer): boolean {
    if (key.startsWith(SYSTEM_LEASES)) return isServerLease(key, parsedValue(value));
    const [, namespace] = DEFAULT_ACCOUNT.exec(key) ?? [];
    if (namespace !== undefined) return this.#values.has(`${NAMESPACES}${namespace}`);
    return key.startsWith(API_SERVICES) && hasLabel(parsedValue(value), AUTOMANAGED_LABEL);
  }
}

const SYSTEM_LEASES = '/registry/coordination.k8s.io/leases/kube-system/';
const NAMESPACES = '/registry/namespaces/';
/** Made in each namespace by a controller, at its own time. */
const DEFAULT_ACCOUNT = /^\/registry\/serviceaccounts\/([^/]+)\/default$/;
const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const API_SERVICES = '/registry/apiregistration.k8s.io/apiservices/';
const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
const DEFAULTS_LABEL = 'kubernetes.io/bootstrapping';

function isServerLease(key: string, lease: JsonObject): boolean {
  return hasLabel(lease, 'apiserver.kubernetes.io/identity') || key.startsWith(`${SYSTEM_LEASES}straddle-`);
}

function hasLabel(object: JsonObject, label: string): boolean {
  return Object.hasOwn(objectMember(metadataOf(object), 'labels'), label);
}

function uidOf(value: Buffer): string {
  return text(metadataOf(parsedValue(value)), 'uid');
}

function parsedValue(value: Buffer): JsonObject {
  return parsedObject(value.toString('utf8'));
}

/** Resolves also if another write came first: the next pass sees it. */
async function settled(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StorageError) || error.code === 'closed') throw error;
  }
}

/** All keys, at one revision. */
async function everything(backend: Backend): Promise<KeyValue[]> {
  const all: KeyValue[] = [];
  let page = await backend.list('', { limit: PAGE_KEYS });
  for (;;) {
    all.push(...page.items);
    if (page.remainingCount === 0) return all;
    page = await backend.list('', { limit: PAGE_KEYS, revision: page.revision, startAfter: all.at(-1)!.key });
  }
}

import {
  type ApiAnswer,
  type ApiClient,
  ApiRefusal,
  type ApiRequest,
  type DiscoveredApi,
  type OpenWatch,
  type WatchEvent,
  type WatchRequest,
} from '../../kube/client/api-client.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { text, texts } from '../../kube/fields.js';
import { groupVersion } from '../../kube/gvr.js';
import { cloneJson, isObject, type Json, type JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { applyMergePatch } from '../patch/merge-patch.js';

export interface FakeResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly freshness?: 'Current' | 'Stale';
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export function fakeResource(place: string, kind: string, more: Partial<FakeResource> = {}): FakeResource {
  const parts = place.split('/');
  const resource = parts.pop()!;
  const version = parts.pop()!;
  return { group: parts[0] ?? '', version, resource, kind, namespaced: true, verbs: VERBS, ...more };
}

export const NAMESPACES = fakeResource('v1/namespaces', 'Namespace', { namespaced: false });
export const CONFIG_MAPS = fakeResource('v1/configmaps', 'ConfigMap');
export const PODS = fakeResource('v1/pods', 'Pod');
export const POD_GROUPS = fakeResource('scheduling.k8s.io/v1alpha2/podgroups', 'PodGroup');

interface Watcher {
  readonly collection: string;
  readonly namespace: string;
  readonly send: (event: WatchEvent) => void;
  readonly end: (error?: Error) => void;
}

interface Logged {
  readonly revision: number;
  readonly collection: string;
  readonly namespace: string;
  readonly event: WatchEvent;
}

/**
 * A control plane in memory: objects with uids, versions, finalizers and propagation, lists, watches, discovery. Where a
 * test wants it to fail, `intercept` answers instead.
 */
export class FakeApi implements ApiClient {
  resources: FakeResource[];
  gaps: string[] = [];
  discoveryFailure: Error | undefined;
  /** Answers instead of the store; undefined lets a request through. */
  intercept: (request: ApiRequest) => ApiAnswer | undefined | Promise<ApiAnswer | undefined> = () => undefined;
  /** Refuses watches, and ends those that are open. */
  watchRefusal: ApiAnswer | undefined;
  /** Every request that would change something, in order, with its status. */
  readonly changes: string[] = [];
  readonly #objects = new Map<string, JsonObject>();
  readonly #log: Logged[] = [];
  readonly #watchers = new Set<Watcher>();
  readonly #nowMs: () => number;
  #revision = 1;
  #uids = 0;
  #discovered: DiscoveredApi | undefined;
  #discoveredFrom = '';

  constructor(resources: FakeResource[], nowMs: () => number = () => 0) {
    this.resources = resources;
    this.#nowMs = nowMs;
  }

  /** Puts an object there without a request. */
  put(place: FakeResource, metadata: JsonObject, more: JsonObject = {}): JsonObject {
    const apiVersion = groupVersion(place.group, place.version);
    const object = { kind: place.kind, apiVersion, ...more, metadata };
    return this.#write(collectionOf(place), stamped(object, `uid-${++this.#uids}`), 'ADDED');
  }

  get(place: FakeResource, name: string, namespace = ''): JsonObject | undefined {
    return this.#objects.get(keyOf(collectionOf(place), namespace, name));
  }

  /** Gone without a deletion, as by another client. */
  remove(place: FakeResource, name: string, namespace = ''): void {
    const object = this.get(place, name, namespace);
    if (object) this.#erase(collectionOf(place), object);
  }

  names(place: FakeResource): string[] {
    const prefix = `${collectionOf(place)}|`;
    return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => nameOf(object));
  }

  async request(request: ApiRequest): Promise<ApiAnswer> {
    const answer = (await this.intercept(request)) ?? this.#answer(request);
    if (request.method !== 'GET') this.changes.push(`${request.method} ${request.target} ${answer.status}`);
    return answer;
  }

  watch({ target, onOpen, onEvent }: WatchRequest): OpenWatch {
    const info = parseRequestInfo('GET', target)!;
    const collection = `${info.group}/${info.resource}`;
    const from = Number(new URLSearchParams(target.split('?')[1]).get('resourceVersion'));
    let end: (error?: Error) => void = () => {};
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
    });
    const watcher = { collection, namespace: info.namespace, send: onEvent, end };
    ended.catch(() => {}).finally(() => this.#watchers.delete(watcher));
    if (this.watchRefusal) end(new ApiRefusal('watch', this.watchRefusal));
    else if (!this.#served(info)) end(new ApiRefusal('watch', unknownResource()));
    else {
      onOpen();
      for (const each of this.#log) if (each.revision > from && isFor(watcher, each)) onEvent(cloneEvent(each.event));
      this.#watchers.add(watcher);
    }
    return { ended, stop: () => end() };
  }

  /** Ends every watch, as a server that stops does. */
  cutWatches(): void {
    for (const each of [...this.#watchers]) each.end(new Error('the connection is gone'));
  }

  async discover(): Promise<DiscoveredApi> {
    if (this.discoveryFailure) throw this.discoveryFailure;
    const from = JSON.stringify([this.resources, this.gaps]);
    if (this.#discovered && from === this.#discoveredFrom) return this.#discovered;
    this.#discoveredFrom = from;
    this.#discovered = { groups: groupsOf(this.resources), gaps: [...this.gaps] };
    return this.#discovered;
  }

  #served(info: { group: string; version: string; resource: string }): FakeResource | undefined {
    return this.resources.find(
      (each) =>
        each.group === info.group &&
        each.version === info.version &&
        each.resource === info.resource &&
        each.freshness !== 'Stale',
    );
  }

  #answer({ method, target, body }: ApiRequest): ApiAnswer {
    const info = parseRequestInfo(method, target)!;
    const served = this.#served(info);
    if (!served) return unknownResource();
    const namespace = served.namespaced ? info.namespace : '';
    const collection = collectionOf(served);
    if (!served.verbs.includes(info.verb)) return status(405, 'MethodNotAllowed');
    if (info.verb === 'list') return this.#list(collection, namespace);
    if (info.verb === 'create') {
      return target.includes('dryRun=All') ? ok(body!, 201) : this.#create(served, namespace, body!);
    }
    if (info.verb === 'deletecollection') {
      for (const each of this.#within(collection, namespace)) this.#delete(collection, each, body ?? {});
      return ok({});
    }
    const found = this.#objects.get(keyOf(collection, namespace, info.name));
    if (!found) return notFound(info.name);
    if (info.verb === 'get') return ok(found);
    if (info.verb === 'delete') return this.#delete(collection, found, body ?? {});
    return this.#change(collection, found, info.verb === 'patch' ? patched(found, body!) : body!, info.subresource);
  }

  #within(collection: string, namespace: string): JsonObject[] {
    const prefix = namespace === '' ? `${collection}|` : `${collection}|${namespace}|`;
    return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object);
  }

  #list(collection: string, namespace: string): ApiAnswer {
    const items = this.#within(collection, namespace).map((each) => cloneJson(each));
    return ok({ kind: 'List', metadata: { resourceVersion: String(this.#revision) }, items });
  }

  #create(served: FakeResource, namespace: string, body: JsonObject): ApiAnswer {
    const collection = collectionOf(served);
    const metadata: JsonObject = { ...metadataOf(body), ...(namespace === '' ? {} : { namespace }) };
    metadata['name'] ??= `${metadata['generateName']}${this.#uids}`;
    if (this.#objects.has(keyOf(collection, namespace, String(metadata['name'])))) return status(409, 'AlreadyExists');
    return ok(this.#write(collection, stamped({ ...body, metadata }, `uid-${++this.#uids}`), 'ADDED'), 201);
  }

  #change(collection: string, found: JsonObject, next: JsonObject, subresource: string): ApiAnswer {
    const [before, after] = [metadataOf(found), metadataOf(next)];
    for (const key of ['resourceVersion', 'uid']) {
      if (after[key] !== undefined && after[key] !== before[key]) return status(409, 'Conflict');
    }
    let object = next;
    if (subresource === 'status') object = { ...found, status: next['status'] ?? {} };
    if (subresource === 'finalize') object = { ...found, spec: next['spec'] ?? {} };
    const written = this.#write(collection, object, 'MODIFIED');
    if (after['deletionTimestamp'] !== undefined && !isHeld(written)) this.#erase(collection, written);
    return ok(written);
  }

  #delete(collection: string, found: JsonObject, options: JsonObject): ApiAnswer {
    const metadata = metadataOf(found);
    const preconditions = isObject(options['preconditions']) ? options['preconditions'] : {};
    for (const key of ['resourceVersion', 'uid']) {
      if (preconditions[key] !== undefined && preconditions[key] !== metadata[key]) return status(409, 'Conflict');
    }
    const policy = options['propagationPolicy'];
    const others = texts(metadata, 'finalizers').filter((each) => each !== 'orphan' && each !== 'foregroundDeletion');
    if (policy === 'Orphan') others.push('orphan');
    if (policy === 'Foreground') others.push('foregroundDeletion');
    const marked: JsonObject = {
      ...found,
      metadata: { ...metadata, finalizers: others, deletionTimestamp: new Date(this.#nowMs()).toISOString() },
    };
    if (isHeld(marked)) return ok(this.#write(collection, marked, 'MODIFIED'));
    this.#erase(collection, found);
    return ok({ kind: 'Status', status: 'Success' });
  }

  #write(collection: string, object: JsonObject, type: string): JsonObject {
    const metadata = { ...metadataOf(object), resourceVersion: String(++this.#revision) };
    const written = cloneJson({ ...object, metadata });
    this.#objects.set(keyOf(collection, text(metadata, 'namespace'), text(metadata, 'name')), written);
    this.#tell(collection, type, written);
    return cloneJson(written);
  }

  #erase(collection: string, object: JsonObject): void {
    const metadata = { ...metadataOf(object), resourceVersion: String(++this.#revision) };
    this.#objects.delete(keyOf(collection, text(metadata, 'namespace'), nameOf(object)));
    this.#tell(collection, 'DELETED', { ...object, metadata });
  }

  #tell(collection: string, type: string, object: JsonObject): void {
    const namespace = text(metadataOf(object), 'namespace');
    const logged = { revision: this.#revision, collection, namespace, event: { type, object } };
    this.#log.push(logged);
    // After the answer to whoever has changed it.
    queueMicrotask(() => {
      for (const each of [...this.#watchers]) if (isFor(each, logged)) each.send(cloneEvent(logged.event));
    });
  }
}

function isFor(watcher: { collection: string; namespace: string }, { collection, namespace }: Logged): boolean {
  return watcher.collection === collection && (watcher.namespace === '' || watcher.namespace === namespace);
}

function cloneEvent({ type, object }: WatchEvent): WatchEvent {
  return { type, object: cloneJson(object) };
}

function stamped(object: JsonObject, uid: string): JsonObject {
  return { ...object, metadata: { uid, ...metadataOf(object) } };
}

function patched(found: JsonObject, patch: JsonObject): JsonObject {
  return applyMergePatch(found, patch);
}

function isHeld(object: JsonObject): boolean {
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const isNamespace = object['kind'] === 'Namespace';
  return texts(metadataOf(object), 'finalizers').length > 0 || (isNamespace && texts(spec, 'finalizers').length > 0);
}

function collectionOf({ group, resource }: FakeResource): string {
  return `${group}/${resource}`;
}

function keyOf(collection: string, namespace: string, name: string): string {
  return `${collection}|${namespace}|${name}`;
}

function nameOf(object: JsonObject): string {
  return text(metadataOf(object), 'name');
}

function groupsOf(resources: readonly FakeResource[]): GroupDiscovery[] {
  const groups = new Map<string, Map<string, FakeResource[]>>();
  for (const each of resources) {
    const versions = groups.get(each.group) ?? new Map<string, FakeResource[]>();
    groups.set(each.group, versions.set(each.version, [...(versions.get(each.version) ?? []), each]));
  }
  return [...groups].map(([group, versions]) => ({
    metadata: group === '' ? {} : { name: group },
    versions: [...versions].map(([version, members]) => ({
      version,
      freshness: members.some(({ freshness }) => freshness === 'Stale') ? 'Stale' : 'Current',
      resources: members.map(({ resource, kind, namespaced, verbs }) => ({
        resource,
        responseKind: { group, version, kind },
        scope: namespaced ? ('Namespaced' as const) : ('Cluster' as const),
        verbs,
      })),
    })),
  }));
}

function ok(body: JsonObject, code = 200): ApiAnswer {
  return { status: code, body: cloneJson(body) };
}

/** A Status that names nothing. */
export function status(code: number, reason: string): ApiAnswer {
  return { status: code, body: { kind: 'Status', status: 'Failure', reason, code, message: reason } };
}

export function notFound(name: string): ApiAnswer {
  const details: Json = { name };
  return { status: 404, body: { ...status(404, 'NotFound').body, details } };
}

/** What a server says of a path that it has no resource for: plain text, which reads as nothing. */
export function unknownResource(): ApiAnswer {
  return { status: 404, body: {} };
}

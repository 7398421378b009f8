import type { Clock } from '../../base/clock.js';
import { type ApiRequest, isSuccess, MERGE_PATCH } from '../../kube/client/api-client.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import type { Api } from './api-connection.js';
import { subresourceKey } from './differences.js';
import { DiscoveryLooks } from './discovery-looks.js';
import type { HalfRecord, Share } from './half-record.js';
import { MeasuredClient } from './measured-client.js';
import type { ServedTruth } from './served-truth.js';
import { type Skew, type SkewedSubresource, skewedObject } from './skew.js';
import { type Action, TrackedObject } from './tracked-object.js';

export interface LoadClientOptions {
  readonly name: string;
  readonly namespace: string;
  readonly api: Api;
  readonly truth: ServedTruth;
  readonly record: HalfRecord;
  readonly clock: Clock;
  /** Paths of the user's objects, which are never deleted. */
  readonly others: readonly string[];
  /** Called for each acknowledged write with its resource version. */
  readonly onWrite: (kind: ResourceKind, resourceVersion: string) => void;
}

/** Objects of a client that all servers serve, and of all skewed resources together; at least one of each. */
const OBJECTS_EACH = 4;
const IN_FLIGHT_MAX = 8;
const LIST_ITEMS_MAX = 500;

/** The requests of a client, repeated for ever: mostly reads, and one write in five. */
const ROUND = [
  ['get', 'skewed'],
  ['get', 'common'],
  ['write', 'common'],
  ['list', 'skewed'],
  ['discover', 'common'],
  ['get', 'skewed'],
  ['list', 'common'],
  ['write', 'skewed'],
  ['get', 'skewed'],
  ['get other', 'common'],
  ['use subresource', 'skewed'],
] as const;

/** What the load exercises once the first server is new. */
export interface SkewedLoad {
  readonly resources: readonly Skew[];
  readonly subresources: readonly SkewedObject[];
}

/** An object of which clients read and patch a subresource. */
export interface SkewedObject {
  readonly of: SkewedSubresource;
  /** Path of the subresource. */
  readonly target: string;
}

/** The objects of a client in one resource. */
interface Holding {
  readonly kind: ResourceKind;
  readonly share: Share;
  readonly objects: readonly TrackedObject[];
}

/** A client at the front door with separate objects. */
export class LoadClient {
  readonly #options: LoadClientOptions;
  readonly #measured: MeasuredClient;
  readonly #looks: DiscoveryLooks;
  readonly #common: Holding;
  #skewed: readonly Holding[] = [];
  #subresources: readonly SkewedObject[] = [];
  #turn: number;
  /** By kind of request, so that each kind reaches every skewed resource. */
  readonly #skewedTurns = new Map<string, number>();
  readonly #firstSkewed: number;
  #isLooking = false;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: LoadClientOptions, index: number) {
    const { name, namespace, api, record, truth } = options;
    this.#options = options;
    this.#measured = new MeasuredClient(api, record);
    this.#looks = new DiscoveryLooks(name, truth, record);
    const collection = pathOf(CONFIG_MAPS, namespace);
    const objects = names(name, OBJECTS_EACH).map(
      (each) =>
        new TrackedObject(collection, each, {
          apiVersion: apiVersionOf(CONFIG_MAPS),
          kind: CONFIG_MAPS.kind,
          metadata: { name: each },
          data: { of: name },
        }),
    );
    this.#common = { kind: CONFIG_MAPS, share: 'common', objects };
    // Clients start at different requests of the round.
    this.#turn = index * 3;
    this.#firstSkewed = index;
  }

  /** Begins requests for the skewed resources. */
  begin({ resources, subresources }: SkewedLoad): void {
    const { name, namespace } = this.#options;
    const each = Math.ceil(OBJECTS_EACH / Math.max(1, resources.length));
    this.#skewed = resources.map((skew): Holding => {
      const collection = pathOf(skew.kind, namespace);
      // Names without a namespace must not collide with those of another half or rehearsal.
      const own = skew.kind.namespaced ? name : `${namespace}-${name}`;
      const objects = names(own, each).map(
        (object) => new TrackedObject(collection, object, skewedObject(skew, { name: object })),
      );
      return { kind: skew.kind, share: 'skewed', objects };
    });
    this.#subresources = subresources;
  }

  /** Ends requests for the skewed resources. */
  retire(): void {
    this.#skewed = [];
    this.#subresources = [];
  }

  /** Sends the next request, unless too many are in flight. */
  step(): void {
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return;
    const running = this.#next().finally(() => this.#inFlight.delete(running));
    this.#inFlight.add(running);
  }

  /** Resolves when no request is in flight. */
  async rest(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  #next(): Promise<void> {
    const turn = this.#turn++;
    const [what, wanted] = ROUND[turn % ROUND.length]!;
    const holding = (wanted === 'skewed' ? this.#nextSkewed(what) : undefined) ?? this.#common;
    switch (what) {
      case 'get':
        return this.#get(holding, turn);
      case 'list':
        return this.#list(holding);
      case 'write':
        return this.#write(holding, turn);
      case 'get other':
        return this.#getOther(turn);
      case 'use subresource':
        return this.#useSubresource(turn, holding);
      case 'discover':
        return this.#discover();
    }
  }

  /** Returns the skewed resources in turn, as long as a server serves them. */
  #nextSkewed(what: string): Holding | undefined {
    const turn = this.#skewedTurns.get(what) ?? this.#firstSkewed;
    this.#skewedTurns.set(what, turn + 1);
    const next = this.#skewed[turn % Math.max(1, this.#skewed.length)];
    return next && this.#isServed(next) ? next : undefined;
  }

  #isServed({ kind, share }: Holding): boolean {
    return share === 'common' || this.#options.truth.serves(kind.key);
  }

  async #get(holding: Holding, turn: number): Promise<void> {
    const object = holding.objects.find(({ exists, isBusy }) => exists && !isBusy);
    if (object) await this.#perform(holding, object, 'get');
    else await this.#write(holding, turn);
  }

  /** Creates a missing object, else updates one, or deletes a common one, without finalizers. */
  async #write(holding: Holding, turn: number): Promise<void> {
    const free = holding.objects.filter(({ isBusy }) => !isBusy);
    const missing = free.find(({ exists }) => !exists);
    if (missing) return this.#perform(holding, missing, 'create');
    const object = free[turn % Math.max(1, free.length)];
    const isDelete = holding.share === 'common' && turn % 3 === 0;
    if (object) await this.#perform(holding, object, isDelete ? 'delete' : 'update');
  }

  async #perform(holding: Holding, object: TrackedObject, action: Action): Promise<void> {
    const { share, kind } = holding;
    // A create is refused with 404 only by a server without the resource.
    const exists = (): boolean => this.#isServed(holding) && (object.exists || action === 'create');
    const answer = await object.perform(action, (request) => this.#measured.request(request, { share, exists }));
    if (action === 'get' || action === 'delete' || !isSuccess(answer)) return;
    this.#options.onWrite(kind, String(metadataOf(answer.body)['resourceVersion'] ?? ''));
  }

  async #list(holding: Holding): Promise<void> {
    const { share, kind } = holding;
    const target = `${pathOf(kind, this.#options.namespace)}?limit=${LIST_ITEMS_MAX}`;
    await this.#measured.request({ method: 'GET', target }, { share, exists: () => this.#isServed(holding) });
  }

  /** Reads a subresource, or patches it without a change; gets an object where there is none. */
  async #useSubresource(turn: number, instead: Holding): Promise<void> {
    const chosen = this.#subresources[turn % Math.max(1, this.#subresources.length)];
    const exists = (): boolean =>
      chosen !== undefined && this.#options.truth.serves(subresourceKey(chosen.of.kind.key, chosen.of.subresource));
    if (!chosen || !exists()) return this.#get(instead, turn);
    const { target, of } = chosen;
    const isPatch = of.verbs.has('patch') && (turn % 2 === 0 || !of.verbs.has('get'));
    const request: ApiRequest = isPatch
      ? { method: 'PATCH', target, body: {}, contentType: MERGE_PATCH }
      : { method: 'GET', target };
    await this.#measured.request(request, { share: 'skewed', exists });
  }

  async #getOther(turn: number): Promise<void> {
    const { others } = this.#options;
    const target = others[turn % Math.max(1, others.length)];
    if (target === undefined) return this.#get(this.#common, turn);
    await this.#measured.request({ method: 'GET', target }, { share: 'common', exists: () => true });
  }

  async #discover(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const askedAtMs = this.#options.clock.nowMs();
    const found = await this.#measured.discover();
    if (found?.status === 200) this.#looks.see(found.groups, askedAtMs);
    this.#isLooking = false;
  }
}

function names(client: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${client}-${index}`);
}

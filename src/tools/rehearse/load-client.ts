import type { Clock } from '../../base/clock.js';
import { isSuccess } from '../../kube/client/api-client.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { apiVersionOf, CONFIG_MAPS, pathOf } from '../../kube/resource-kind.js';
import type { Api } from './api-connection.js';
import { DiscoveryLooks } from './discovery-looks.js';
import type { HalfRecord, Share } from './half-record.js';
import { MeasuredClient } from './measured-client.js';
import type { ServedTruth } from './served-truth.js';
import { type Skew, skewedObject } from './skew.js';
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
  readonly onWrite: (share: Share, resourceVersion: string) => void;
}

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
] as const;

/** A client at the front door with separate objects. */
export class LoadClient {
  readonly #options: LoadClientOptions;
  readonly #measured: MeasuredClient;
  readonly #looks: DiscoveryLooks;
  readonly #common: readonly TrackedObject[];
  #skewed: readonly TrackedObject[] = [];
  #skew: Skew | undefined;
  #turn: number;
  #isLooking = false;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: LoadClientOptions, index: number) {
    const { name, namespace, api, record, truth } = options;
    this.#options = options;
    this.#measured = new MeasuredClient(api, record);
    this.#looks = new DiscoveryLooks(name, truth, record);
    const collection = pathOf(CONFIG_MAPS, namespace);
    this.#common = names(name).map(
      (each) =>
        new TrackedObject(collection, each, {
          apiVersion: apiVersionOf(CONFIG_MAPS),
          kind: CONFIG_MAPS.kind,
          metadata: { name: each },
          data: { of: name },
        }),
    );
    // Clients start at different requests of the round.
    this.#turn = index * 3;
  }

  /** Begins requests for the skewed resource. */
  begin(skew: Skew): void {
    const collection = pathOf(skew.kind, this.#options.namespace);
    this.#skew = skew;
    this.#skewed = names(this.#options.name).map(
      (each) => new TrackedObject(collection, each, skewedObject(skew, { name: each })),
    );
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
    const share = this.#isServed(wanted) ? wanted : 'common';
    switch (what) {
      case 'get':
        return this.#get(share, turn);
      case 'list':
        return this.#list(share);
      case 'write':
        return this.#write(share, turn);
      case 'get other':
        return this.#getOther(turn);
      case 'discover':
        return this.#discover();
    }
  }

  #isServed(share: Share): boolean {
    if (share === 'common') return true;
    return this.#skew !== undefined && this.#options.truth.serves(this.#skew.kind.key);
  }

  async #get(share: Share, turn: number): Promise<void> {
    const object = this.#objects(share).find(({ exists, isBusy }) => exists && !isBusy);
    if (object) await this.#perform(share, object, 'get');
    else await this.#write(share, turn);
  }

  /** Creates a missing object, else updates one, or deletes a common one, without finalizers. */
  async #write(share: Share, turn: number): Promise<void> {
    const free = this.#objects(share).filter(({ isBusy }) => !isBusy);
    const missing = free.find(({ exists }) => !exists);
    if (missing) return this.#perform(share, missing, 'create');
    const object = free[turn % Math.max(1, free.length)];
    const isDelete = share === 'common' && turn % 3 === 0;
    if (object) await this.#perform(share, object, isDelete ? 'delete' : 'update');
  }

  #objects(share: Share): readonly TrackedObject[] {
    return share === 'common' ? this.#common : this.#skewed;
  }

  async #perform(share: Share, object: TrackedObject, action: Action): Promise<void> {
    // A create is refused with 404 only by a server without the resource.
    const exists = (): boolean => this.#isServed(share) && (object.exists || action === 'create');
    const answer = await object.perform(action, (request) => this.#measured.request(request, { share, exists }));
    if (action === 'get' || action === 'delete' || !isSuccess(answer)) return;
    this.#options.onWrite(share, String(metadataOf(answer.body)['resourceVersion'] ?? ''));
  }

  async #list(share: Share): Promise<void> {
    const kind = share === 'common' ? CONFIG_MAPS : this.#skew!.kind;
    const target = `${pathOf(kind, this.#options.namespace)}?limit=${LIST_ITEMS_MAX}`;
    await this.#measured.request({ method: 'GET', target }, { share, exists: () => this.#isServed(share) });
  }

  async #getOther(turn: number): Promise<void> {
    const { others } = this.#options;
    const target = others[turn % Math.max(1, others.length)];
    if (target === undefined) return this.#get('common', turn);
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

function names(client: string): string[] {
  return Array.from({ length: OBJECTS_EACH }, (_, index) => `${client}-${index}`);
}

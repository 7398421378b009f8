import type { JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { NAMESPACES, pathOf, type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import { ApiConnection, itemsOf } from './api-connection.js';
import { HalfRecord } from './half-record.js';
import { Load } from './load.js';
import { MeasuredClient } from './measured-client.js';
import { pause, repeat } from './pause.js';
import { PlainCollector } from './plain-collector.js';
import { PlainNamespaces } from './plain-namespaces.js';
import type { RehearsalOptions } from './rehearsal-options.js';
import type { RehearsalPlane } from './rehearsal-plane.js';
import type { HalfResult } from './rehearsal-result.js';
import { create } from './scene.js';
import { Scenes } from './scenes.js';
import { ServedTruth } from './served-truth.js';
import { findSkew, type Skew } from './skew.js';
import { Straight } from './straight-send.js';
import { applyUserObjects, describeObject } from './user-objects.js';
import { UserProgram } from './user-program.js';

const SETTLE_SECONDS = 30;
const BATCHES_A_HOLD = 4;
const BATCH_EVERY_MS_MIN = 1_000;
const BATCH_EVERY_MS_MAX = 3_000;
const USER_OBJECTS_MAX = 50;
const LIST_ITEMS_MAX = 1_000;

/** One rolling upgrade and rollback, with the proxy or without. */
export class Half {
  readonly #options: RehearsalOptions;
  readonly #plane: RehearsalPlane;
  readonly #record: HalfRecord;
  readonly #truth: ServedTruth;
  readonly #straight: Straight;
  readonly #front: ApiConnection;
  readonly #prefix: string;
  readonly #proxy: boolean;
  readonly #closing = new AbortController();
  #controllers: Promise<void>[] = [];
  #older: readonly ResourceKind[] = [];
  #notYetServed: readonly JsonObject[] = [];
  #load: Load | undefined;
  #scenes: Scenes | undefined;
  #skew: Skew | undefined;
  #program: UserProgram | undefined;

  constructor(options: RehearsalOptions, plane: RehearsalPlane, proxy: boolean) {
    const { clock } = options;
    this.#options = options;
    this.#plane = plane;
    this.#proxy = proxy;
    this.#record = new HalfRecord(clock);
    this.#truth = new ServedTruth(clock, plane.servers);
    this.#straight = new Straight(plane);
    this.#front = new ApiConnection(plane.front);
    this.#prefix = `rehearsal-${proxy ? 'on' : 'off'}-${clock.nowMs().toString(36)}`;
  }

  async run(): Promise<HalfResult> {
    const { from, to, settleSeconds = SETTLE_SECONDS } = this.#options;
    const names = this.#plane.servers.map(({ name }) => name);
    const [first, ...others] = names;
    await this.#begin(first!);
    await this.#hold();
    await this.#replace(`upgrade ${first} to ${to}`, first!, to);
    await this.#meet(first!);
    await this.#hold();
    // The most dangerous moment of an upgrade: the only server with an API restarts.
    await this.#replace(`restart ${first}`, first!, to);
    await this.#hold();
    for (const each of others) {
      await this.#replace(`upgrade ${each} to ${to}`, each, to);
      await this.#hold();
    }
    for (const each of others.reverse()) {
      await this.#replace(`roll ${each} back to ${from}`, each, from);
      await this.#hold();
    }
    await this.#record.step('settle', () => this.#scenes!.settle(settleSeconds * 1_000));
    if (this.#plane.keepsObjects) await this.#scenes!.tidy();
    const leftInStore = await this.#skewedInStore();
    await this.#replace(`roll ${first} back to ${from}`, first!, from);
    await this.#hold();
    await this.#program?.stop();
    await this.#load!.stop();
    if (this.#plane.keepsObjects) await this.#tidy();
    const [skewed, counts] = [this.#skew!.name, this.#scenes!.counts];
    return this.#record.result({ proxy: this.#proxy, skewed, leftInStore, counts });
  }

  /** Ends everything that still runs, after success and failure. */
  async close(): Promise<void> {
    await this.#program?.kill();
    await this.#scenes?.stop();
    await this.#load?.stop();
    this.#closing.abort();
    await Promise.all(this.#controllers);
    this.#straight.close();
    this.#front.close();
  }

  /** Creates the user's objects and starts the load, while all servers are old. */
  async #begin(first: string): Promise<void> {
    const { manifests, controllers, clock, signal, from, load } = this.#options;
    await this.#bringAllTo(from);
    const api = this.#straight.to(first);
    const namespace = this.#prefix;
    const { paths, left } = await applyUserObjects(api, manifests, { clock, signal });
    this.#notYetServed = left;
    this.#older = await this.#learn(first, from);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await create(api, pathOf(NAMESPACES, ''), body);
    if (controllers === 'plain') {
      this.#controllers = [
        new PlainCollector(this.#front, clock, namespace),
        new PlainNamespaces(this.#front, clock, this.#prefix),
      ].map((each) => repeat(clock, each.everyMs, this.#closing.signal, () => each.round().catch(() => {})));
    }
    this.#load = new Load(load, {
      front: this.#plane.front,
      namespace,
      truth: this.#truth,
      record: this.#record,
      clock,
      others: paths.slice(0, USER_OBJECTS_MAX),
    });
    this.#load.start();
  }

  /** Rolls real servers to the first version: they may run another one. */
  async #bringAllTo(from: string): Promise<void> {
    for (const { name, version } of this.#plane.servers) {
      if (version === from) continue;
      this.#options.progress(`bringing ${name} from ${version} to ${from}`);
      await this.#plane.replace(name, from);
      this.#truth.entered(name, from);
    }
  }

  /** Starts scenes and skewed load, once the first server is new. */
  async #meet(first: string): Promise<void> {
    const { from, to, manifests, skewed, clock, signal, exec, secondsPerStep, progress } = this.#options;
    const newer = await this.#learn(first, to);
    const skew = findSkew({ from, to, older: this.#older, newer, manifests, wanted: skewed });
    progress(`only ${to} serves ${skew.name}`);
    this.#skew = skew;
    this.#straight.mark(first, true);
    const { left } = await applyUserObjects(this.#straight.to(first), this.#notYetServed, { clock, signal });
    if (left[0]) throw new Error(`Neither ${from} nor ${to} serves ${describeObject(left[0])} of the manifests.`);
    this.#load!.begin(skew);
    const batchEveryMs = Math.min(
      Math.max((secondsPerStep * 1_000) / BATCHES_A_HOLD, BATCH_EVERY_MS_MIN),
      BATCH_EVERY_MS_MAX,
    );
    this.#scenes = new Scenes(
      {
        skew,
        prefix: this.#prefix,
        namespace: this.#prefix,
        straight: this.#straight,
        client: new MeasuredClient(this.#front, this.#record),
        truth: this.#truth,
        record: this.#record,
        clock,
        signal,
        note: progress,
      },
      batchEveryMs,
    );
    this.#scenes.start();
    if (exec !== undefined) {
      const { kubeconfig } = this.#plane;
      this.#program = new UserProgram({ command: exec, kubeconfig, record: this.#record, clock });
      this.#program.start();
    }
  }

  async #learn(server: string, version: string): Promise<ResourceKind[]> {
    const { status, groups } = await this.#straight.to(server).discover('local');
    if (status !== 200) throw new Error(`${server} does not tell what it serves: ${status}.`);
    const kinds = resourceKindsOf(groups);
    this.#truth.learn(
      version,
      kinds.map(({ key }) => key),
    );
    return kinds;
  }

  async #replace(name: string, server: string, version: string): Promise<void> {
    const { signal, progress, to } = this.#options;
    signal.throwIfAborted();
    progress(`proxy ${this.#proxy ? 'on' : 'off'}: ${name}`);
    this.#straight.mark(server, false);
    this.#truth.leaves(server, version);
    await this.#record.step(name, () => this.#plane.replace(server, version));
    this.#truth.entered(server, version);
    if (version === to && this.#skew) this.#straight.mark(server, true);
  }

  async #hold(): Promise<void> {
    const { clock, signal, secondsPerStep } = this.#options;
    await this.#record.step('hold', () => pause(clock, secondsPerStep * 1_000, signal));
    signal.throwIfAborted();
  }

  async #skewedInStore(): Promise<number> {
    const target = `${pathOf(this.#skew!.kind, '')}?limit=${LIST_ITEMS_MAX}`;
    const answer = await this.#straight.serving()?.request({ method: 'GET', target });
    const more = answer ? metadataOf(answer.body)['remainingItemCount'] : undefined;
    return answer ? itemsOf(answer).length + (typeof more === 'number' ? more : 0) : 0;
  }

  /** Deletes the namespace of the load; the namespace controller of these servers empties it. */
  async #tidy(): Promise<void> {
    const target = pathOf(NAMESPACES, '', this.#prefix);
    await this.#front.request({ method: 'DELETE', target }).catch(() => {});
  }
}

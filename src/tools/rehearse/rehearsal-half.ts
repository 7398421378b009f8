import type { GroupDiscovery } from '../../kube/discovery.js';
import type { JsonObject } from '../../kube/json.js';
import { NAMESPACES, pathOf } from '../../kube/resource-kind.js';
import { ApiConnection } from './api-connection.js';
import { choose } from './choice.js';
import { differencesBetween, servedKeys } from './differences.js';
import { HalfRecord } from './half-record.js';
import { Load } from './load.js';
import { MeasuredClient } from './measured-client.js';
import { Pace } from './pace.js';
import { pause, repeat } from './pause.js';
import { PlainCollector } from './plain-collector.js';
import { PlainNamespaces } from './plain-namespaces.js';
import { type Plan, planOf } from './plan.js';
import { REHEARSAL_DEFAULTS, type RehearsalOptions } from './rehearsal-options.js';
import type { RehearsalPlane } from './rehearsal-plane.js';
import type { HalfResult } from './rehearsal-result.js';
import { create } from './scene.js';
import { Scenes } from './scenes.js';
import { ServedTruth } from './served-truth.js';
import { countSkewed, createSubresourceObjects, deleteClusterScoped } from './skewed-objects.js';
import { Straight } from './straight-send.js';
import { applyUserObjects, describeObject } from './user-objects.js';
import { UserProgram } from './user-program.js';

const BATCHES_A_HOLD = 4;
const BATCH_EVERY_MS_MIN = 1_000;
const BATCH_EVERY_MS_MAX = 3_000;
const USER_OBJECTS_MAX = 50;
/** What to do if the servers that run do not differ. */
const ADVICE = 'turn an API on that only one of them has (--runtime-config), or give other versions';

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
  readonly #pace: Pace;
  #controllers: Promise<void>[] = [];
  #older: readonly GroupDiscovery[] = [];
  #notYetServed: readonly JsonObject[] = [];
  #load: Load | undefined;
  #scenes: Scenes | undefined;
  #plan: Plan | undefined;
  #program: UserProgram | undefined;

  constructor(options: RehearsalOptions, plane: RehearsalPlane, proxy: boolean) {
    const { clock } = options;
    this.#options = options;
    this.#plane = plane;
    this.#proxy = proxy;
    this.#record = new HalfRecord(clock);
    const { secondsPerStep, halvesToFollow = 0 } = options;
    this.#pace = new Pace({ clock, servers: plane.servers.length, holdMs: secondsPerStep * 1_000, halvesToFollow });
    this.#truth = new ServedTruth(clock, plane.servers);
    this.#straight = new Straight(plane);
    this.#front = new ApiConnection(plane.front);
    this.#prefix = `rehearsal-${proxy ? 'on' : 'off'}-${clock.nowMs().toString(36)}`;
  }

  /** Undefined until a server of the newer version runs. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  async run(): Promise<HalfResult> {
    const { from, to, settleSeconds = REHEARSAL_DEFAULTS.settleSeconds } = this.#options;
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
    if (this.#plane.keepsObjects) await this.#tidySkewed();
    const leftInStore = await this.#skewedInStore();
    await this.#replace(`roll ${first} back to ${from}`, first!, from);
    await this.#hold();
    await this.#program?.stop();
    await this.#load!.stop();
    if (this.#plane.keepsObjects) await this.#tidy();
    return this.#record.result({ proxy: this.#proxy, leftInStore, counts: this.#scenes!.counts });
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
    const api = this.#straight.to(first);
    const differences = differencesBetween(this.#older, await this.#learn(first, to));
    const choice = choose({ from, to, differences, manifests, wanted: skewed });
    const plan = await planOf(choice, { api, namespace: this.#prefix, advice: ADVICE });
    for (const sentence of spokenPlan(plan)) progress(sentence);
    this.#plan = plan;
    this.#straight.mark(first, true);
    const { left } = await applyUserObjects(api, this.#notYetServed, { clock, signal });
    if (left[0]) throw new Error(`Neither ${from} nor ${to} serves ${describeObject(left[0])} of the manifests.`);
    const subresources = await createSubresourceObjects(plan.subresources, { api, prefix: this.#prefix });
    this.#load!.begin({ resources: plan.resources, subresources });
    const batchEveryMs = Math.min(
      Math.max((secondsPerStep * 1_000) / BATCHES_A_HOLD, BATCH_EVERY_MS_MIN),
      BATCH_EVERY_MS_MAX,
    );
    this.#scenes = new Scenes(
      {
        skews: plan.resources,
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

  async #learn(server: string, version: string): Promise<readonly GroupDiscovery[]> {
    const { status, groups } = await this.#straight.to(server).discover('local');
    if (status !== 200) throw new Error(`${server} does not tell what it serves: ${status}.`);
    this.#truth.learn(version, servedKeys(groups));
    return groups;
  }

  async #replace(name: string, server: string, version: string): Promise<void> {
    const { signal, progress, to } = this.#options;
    signal.throwIfAborted();
    progress(`proxy ${this.#proxy ? 'on' : 'off'}: ${this.#pace.next(name)}`);
    this.#straight.mark(server, false);
    this.#truth.leaves(server, version);
    const replacement = () => this.#pace.during(() => this.#plane.replace(server, version));
    await this.#record.step(name, replacement, { server, version });
    this.#truth.entered(server, version);
    if (version === to && this.#plan) this.#straight.mark(server, true);
  }

  async #hold(): Promise<void> {
    const { clock, signal, secondsPerStep } = this.#options;
    await this.#record.step('hold', () => pause(clock, secondsPerStep * 1_000, signal));
    signal.throwIfAborted();
  }

  async #skewedInStore(): Promise<number> {
    const api = this.#straight.serving();
    return api ? countSkewed(this.#plan!, { api, prefix: this.#prefix }) : 0;
  }

  /** Deletes what nobody could delete after the last server of the newer version has left. */
  async #tidySkewed(): Promise<void> {
    await this.#scenes!.tidy();
    await this.#load!.retire();
    const api = this.#straight.serving();
    if (api) await deleteClusterScoped(this.#plan!, { api, prefix: this.#prefix }).catch(() => {});
  }

  /** Deletes the namespace of the load; the namespace controller of these servers empties it. */
  async #tidy(): Promise<void> {
    const target = pathOf(NAMESPACES, '', this.#prefix);
    await this.#front.request({ method: 'DELETE', target }).catch(() => {});
  }
}

/** Returns what a half exercises, and what not, as sentences of its progress. */
function spokenPlan({ uses, notes }: Plan): string[] {
  const exercised = uses.filter(({ exercises }) => exercises.length > 0).map(({ name }) => name);
  const others = uses.flatMap(({ name, reason }) =>
    reason === undefined ? [] : [`not exercised: ${name}: ${reason}`],
  );
  return [`exercised: ${exercised.join(', ')}`, ...others, ...notes];
}

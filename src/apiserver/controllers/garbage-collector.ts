import { OncePerSubject } from '../../base/once-per-subject.js';
import { ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { groupVersion } from '../../kube/gvr.js';
import { timestamp } from '../../kube/timestamp.js';
import type { Controller, ControllerOptions } from './controller.js';
import { LeadershipLost } from './fenced-client.js';
import { GoneObjects } from './graph/gone-objects.js';
import { type JudgeOptions, judge } from './graph/judge.js';
import { ObjectGraph } from './graph/object-graph.js';
import type { ObservedObject, OwnerReference } from './graph/owner-reference.js';
import { releaseDependents } from './graph/release-dependents.js';
import { ResourceMonitors } from './graph/resource-monitors.js';
import type { Catalogue } from './resource-catalogue.js';
import { WorkQueue } from './work-queue.js';

const DISCOVERY_EVERY_MS = 1_000;
const QUEUE = {
  concurrencyMax: 10,
  keysMax: 50_000,
  perSecondMax: 200,
  burstMax: 400,
  backOff: { firstMs: 250, maxMs: 30_000 },
} as const;

/**
 * Deletes objects whose owners are gone. The graph, filled by watches, only selects objects to
 * check; whether an owner is gone is read from the servers each time, and an inconclusive answer
 * deletes nothing.
 */
export class GarbageCollector implements Controller {
  readonly #options: ControllerOptions;
  readonly #graph: ObjectGraph;
  readonly #monitors: ResourceMonitors;
  readonly #judgements: WorkQueue;
  readonly #releases: WorkQueue;
  readonly #complaints = new OncePerSubject();
  #catalogue: Catalogue | undefined;
  #cancelNext = () => {};
  #following: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ControllerOptions) {
    const { client, clock, reader, metrics } = options;
    const logger = options.logger.with({ controller: 'garbagecollector' });
    this.#options = { ...options, logger };
    const gone = new GoneObjects();
    this.#graph = new ObjectGraph({
      judge: (uid) => this.#judgements.add(uid),
      release: (uid) => this.#releases.add(uid),
    });
    const onMissed = (uid: string): void => this.#judgements.add(uid);
    this.#monitors = new ResourceMonitors({ client, clock, logger, graph: this.#graph, gone, onMissed });
    const judging: JudgeOptions = {
      client,
      reader,
      graph: this.#graph,
      gone,
      whyIncomplete: () => this.#monitors.whyIncomplete(),
      judgeSoon: (uid) => this.#judgements.add(uid),
      onInvalidOwner: (dependent, owner) => void this.#reportInvalid(dependent, owner),
      logger,
      metrics,
    };
    const queue = {
      ...QUEUE,
      clock,
      onFailure: (uid: string, error: Error, failures: number) => this.#failed(uid, error, failures),
      onRoom: () => this.#graph.rescan(),
    };
    const done = () => undefined;
    this.#judgements = new WorkQueue({ ...queue, work: (uid) => judge(judging, uid).then(done) });
    this.#releases = new WorkQueue({ ...queue, work: (uid) => releaseDependents(judging, uid).then(done) });
    this.#following = this.#follow();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelNext();
    await this.#following;
    await Promise.all([this.#monitors.close(), this.#judgements.close(), this.#releases.close()]);
  }

  async #follow(): Promise<void> {
    await Promise.resolve();
    try {
      const catalogue = await this.#options.reader.read();
      if (this.#closed) return;
      await this.#monitors.follow(catalogue);
      // What could not be told before may be known now.
      if (this.#catalogue && catalogue !== this.#catalogue) this.#graph.rescan();
      this.#catalogue = catalogue;
    } catch (error) {
      this.#monitors.doubt();
      if (this.#complaints.isNew('discovery')) this.#options.logger.info('waiting for discovery', { error });
    }
    if (this.#closed) return;
    this.#cancelNext = this.#options.clock.after(DISCOVERY_EVERY_MS, () => {
      this.#following = this.#follow();
    });
  }

  #failed(uid: string, error: Error, failures: number): void {
    if (error instanceof LeadershipLost) return;
    const { logger, metrics } = this.#options;
    metrics.controllerWaits.labels('garbagecollector').inc();
    if (failures === 1) logger.debug('an object waits', { uid, why: error.message });
  }

  /** Reports such a reference by an Event on the dependent, once, as Kubernetes does. */
  async #reportInvalid(dependent: ObservedObject, owner: OwnerReference): Promise<void> {
    if (!this.#complaints.isNew(`${dependent.uid} ${owner.uid}`)) return;
    const { client, clock, logger, reader } = this.#options;
    const named = `ownerRef [${owner.apiVersion}/${owner.kind}, name: ${owner.name}, uid: ${owner.uid}]`;
    const where = dependent.namespace === '' ? 'for a cluster-scoped object' : `in namespace "${dependent.namespace}"`;
    const message = `${named} does not exist ${where}`;
    logger.warn('an owner reference is not allowed', { dependent: `${dependent.kind}/${dependent.name}`, message });
    const namespace = dependent.namespace === '' ? 'default' : dependent.namespace;
    const now = timestamp(clock.nowMs());
    try {
      const resource = (await reader.read()).ofKey(dependent.resource);
      const answer = await client.request({
        method: 'POST',
        target: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
        body: {
          kind: 'Event',
          apiVersion: 'v1',
          metadata: { name: eventName(dependent, clock.nowMs()), namespace },
          involvedObject: {
            apiVersion: resource ? groupVersion(resource.group, resource.version) : '',
            kind: dependent.kind,
            name: dependent.name,
            uid: dependent.uid,
            ...(dependent.namespace === '' ? {} : { namespace: dependent.namespace }),
          },
          type: 'Warning',
          reason: 'OwnerRefInvalidNamespace',
          message,
          source: { component: 'garbage-collector-controller' },
          firstTimestamp: now,
          lastTimestamp: now,
          count: 1,
        },
      });
      if (!isSuccess(answer)) throw new ApiRefusal('create an event', answer);
    } catch (error) {
      logger.debug('an event was not taken', { error });
    }
  }
}

/** Returns the name of an event: object and time. Names of roles may be invalid there. */
function eventName({ name, uid }: ObservedObject, nowMs: number): string {
  const moment = (BigInt(nowMs) * 1_000_000n).toString(16);
  return `${/^[a-z0-9]([a-z0-9.-]{0,198}[a-z0-9])?$/.test(name) ? name : uid}.${moment}`;
}

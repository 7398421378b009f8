import { OncePerSubject } from '../../base/once-per-subject.js';
import { ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { text, texts } from '../../kube/fields.js';
import { isObject, type JsonObject, jsonEqual } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { timestamp } from '../../kube/timestamp.js';
import { isDefinitelyAbsent, readFound } from './answers.js';
import { CollectionWatch } from './collection-watch.js';
import type { Controller, ControllerOptions } from './controller.js';
import { LeadershipLost } from './fenced-client.js';
import { namespaceConditions } from './namespace-conditions.js';
import { type ContentReport, deleteContent, isEmpty } from './namespace-content.js';
import { WorkQueue } from './work-queue.js';

const NAMESPACES = '/api/v1/namespaces';
const FINALIZER = 'kubernetes';
/**
 * Other servers see a deletion a moment later, and accept objects until then. A namespace is
 * finalized only after a pass that began this long after the deletion was first seen here.
 */
const SETTLE_MS = 2_000;
const WAIT_MS = { first: 250, max: 15_000 } as const;
const QUEUE = {
  concurrencyMax: 4,
  keysMax: 10_000,
  perSecondMax: 20,
  burstMax: 50,
  backOff: { firstMs: 500, maxMs: 30_000 },
} as const;

interface Ending {
  readonly uid: string;
  readonly sinceMs: number;
  passes: number;
}

/** Empties namespaces that are being deleted, and finalizes them when certainly empty. */
export class NamespaceController implements Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #watch: CollectionWatch<{ name: string; uid: string; isEnding: boolean }>;
  readonly #ending = new Map<string, Ending>();
  /** Namespaces that are being deleted, according to the watch. */
  readonly #marked = new Set<string>();
  readonly #complaints = new OncePerSubject();

  constructor(options: ControllerOptions) {
    const { client, clock, logger } = options;
    this.#options = { ...options, logger: logger.with({ controller: 'namespace' }) };
    this.#queue = new WorkQueue({
      ...QUEUE,
      clock,
      work: (name) => this.#work(name),
      onFailure: (name, error, failures) => this.#failed(name, error, failures),
      onRoom: () => {
        for (const name of this.#marked) this.#queue.add(name);
      },
    });
    this.#watch = new CollectionWatch({
      client,
      clock,
      path: NAMESPACES,
      keep: (object) => {
        const metadata = metadataOf(object);
        const isEnding = metadata['deletionTimestamp'] !== undefined;
        return { name: text(metadata, 'name'), uid: text(metadata, 'uid'), isEnding };
      },
      onSnapshot: (items) => {
        this.#marked.clear();
        for (const each of items) if (each.isEnding) this.#mark(each.name);
      },
      onEvent: (type, { name, isEnding }) => {
        if (type === 'DELETED' || !isEnding) this.#marked.delete(name);
        else if (!this.#marked.has(name)) this.#mark(name);
      },
      onError: (error) => {
        if (this.#complaints.isNew('watch'))
          this.#options.logger.warn('namespaces cannot be watched; trying again', { error });
      },
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#watch.close(), this.#queue.close()]);
  }

  #mark(name: string): void {
    this.#marked.add(name);
    this.#queue.add(name);
  }

  #failed(name: string, error: Error, failures: number): void {
    if (error instanceof LeadershipLost) return;
    this.#options.metrics.controllerWaits.labels('namespace').inc();
    if (failures === 1) this.#options.logger.info('a namespace waits', { namespace: name, why: error.message });
  }

  /** Makes one pass. Returns the delay until the next one; undefined when it is done. */
  async #work(name: string): Promise<number | undefined> {
    const { client, clock, reader } = this.#options;
    const target = `${NAMESPACES}/${encodeURIComponent(name)}`;
    const found = readFound(await client.request({ method: 'GET', target }), name);
    if (found.kind === 'unknown') throw new Error(found.why);
    if (found.kind === 'absent' || metadataOf(found.object)['deletionTimestamp'] === undefined) {
      this.#ending.delete(name);
      return undefined;
    }
    if (!finalizersOf(found.object).includes(FINALIZER)) return undefined;
    const ending = this.#endingOf(name, text(metadataOf(found.object), 'uid'));
    const begunAtMs = clock.nowMs();
    const report = await deleteContent(client, reader, name);
    const settleMs = ending.sinceMs + SETTLE_MS - begunAtMs;
    if (isEmpty(report) && settleMs <= 0) return this.#finalize(name, found.object);
    if (isEmpty(report)) return settleMs;
    await this.#showProgress(name, report);
    return Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(10, ending.passes++));
  }

  #endingOf(name: string, uid: string): Ending {
    const known = this.#ending.get(name);
    if (known?.uid === uid) return known;
    const ending = { uid, sinceMs: this.#options.clock.nowMs(), passes: 0 };
    this.#ending.set(name, ending);
    return ending;
  }

  async #finalize(name: string, namespace: JsonObject): Promise<number | undefined> {
    const { client, logger, metrics } = this.#options;
    const target = `${NAMESPACES}/${encodeURIComponent(name)}/finalize`;
    const spec = isObject(namespace['spec']) ? namespace['spec'] : {};
    const finalizers = finalizersOf(namespace).filter((each) => each !== FINALIZER);
    // With the resource version from before the pass: a later change causes a conflict, and another pass.
    const answer = await client.request({
      method: 'PUT',
      target,
      body: { kind: 'Namespace', apiVersion: 'v1', ...namespace, spec: { ...spec, finalizers } },
    });
    if (answer.status === 409) return WAIT_MS.first;
    if (!isSuccess(answer) && !isDefinitelyAbsent(answer, name))
      throw new ApiRefusal(`finalize namespace ${name}`, answer);
    this.#ending.delete(name);
    metrics.namespacesFinalized.labels().inc();
    logger.info('namespace finalized', { namespace: name });
    return undefined;
  }

  async #showProgress(name: string, report: ContentReport): Promise<void> {
    const { client, clock, logger, metrics } = this.#options;
    const open = [...report.discoveryFailures, ...report.contentFailures];
    if (open.length > 0) {
      metrics.controllerWaits.labels('namespace').inc();
      logger.debug('a namespace waits: it is not known what is left in it', { namespace: name, why: open.slice(0, 5) });
    }
    const target = `${NAMESPACES}/${encodeURIComponent(name)}`;
    const found = readFound(await client.request({ method: 'GET', target }), name);
    if (found.kind !== 'present') return;
    const status = isObject(found.object['status']) ? found.object['status'] : {};
    const now = timestamp(clock.nowMs());
    const conditions = namespaceConditions(status['conditions'], report, now);
    if (jsonEqual(conditions, status['conditions'])) return;
    const body = { ...found.object, status: { ...status, conditions } };
    const answer = await client.request({ method: 'PUT', target: `${target}/status`, body });
    if (!isSuccess(answer) && answer.status !== 409 && !isDefinitelyAbsent(answer, name))
      throw new ApiRefusal(`show the progress of namespace ${name}`, answer);
  }
}

function finalizersOf(namespace: JsonObject): readonly string[] {
  return isObject(namespace['spec']) ? texts(namespace['spec'], 'finalizers') : [];
}

import type { MetricExport, MetricRegistry } from '../../base/metrics.js';

export interface GroupMetricsOptions {
  /** Metrics of the head itself. */
  readonly head: MetricRegistry;
  /** Returns a registry with the same families and no values. */
  readonly empty: () => MetricRegistry;
  /** Returns the workers that serve. Their `export` rejects after a timeout. */
  readonly workers: () => readonly ExportingWorker[];
}

export interface ExportingWorker {
  export(): Promise<MetricExport>;
}

/**
 * Sums the metrics of all processes into one page. Counters must never decrease, because Prometheus
 * takes that for a restart and counts twice. Therefore the last values are used for a worker that
 * does not answer in time, and the counters of an ended worker are kept.
 */
export class GroupMetrics {
  readonly #options: GroupMetricsOptions;
  readonly #last = new Map<ExportingWorker, MetricExport>();
  readonly #ended: MetricRegistry;
  #gathering: Promise<string> | undefined;

  constructor(options: GroupMetricsOptions) {
    this.#options = options;
    this.#ended = options.empty();
  }

  /** Returns the page; concurrent calls share one. */
  page(): Promise<string> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  }

  /** Fetches the metrics of one worker. Never rejects: after a timeout the last values stay. */
  async refresh(worker: ExportingWorker): Promise<void> {
    const exported = await worker.export().catch(() => undefined);
    // If the worker has ended meanwhile, `workerEnded` has already added its last values.
    if (exported && this.#options.workers().includes(worker)) this.#last.set(worker, exported);
  }

  /** Keeps the last counters of a worker, without increments since, and drops its gauges. */
  workerEnded(worker: ExportingWorker): void {
    const last = this.#last.get(worker);
    this.#last.delete(worker);
    if (last) this.#ended.add(last.filter(({ kind }) => kind !== 'gauge'));
  }

  async #gather(): Promise<string> {
    const { head, empty, workers } = this.#options;
    await Promise.all(workers().map((worker) => this.refresh(worker)));
    const sum = empty();
    for (const part of [head.export(), this.#ended.export(), ...this.#last.values()]) sum.add(part);
    return sum.render();
  }
}

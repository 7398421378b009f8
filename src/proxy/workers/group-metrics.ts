import type { MetricExport, MetricRegistry } from '../../base/metrics.js';

export interface GroupMetricsOptions {
  /** What the head has counted itself. */
  readonly own: MetricRegistry;
  /** The same families, with nothing counted. */
  readonly empty: () => MetricRegistry;
  /** The workers that serve. An export that takes too long rejects. */
  readonly workers: () => readonly ExportingWorker[];
}

export interface ExportingWorker {
  export(): Promise<MetricExport>;
}

/**
 * One page for all processes: sums. Counters must never go down, or who reads them takes that for a restart and counts
 * twice; so a worker that does not answer in time stands with its last numbers, and one that has ended leaves its own.
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

  /** Calls that overlap share one page. */
  page(): Promise<string> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  }

  /** Asks one for its numbers. Never rejects: what does not come in time is not there. */
  async refresh(worker: ExportingWorker): Promise<void> {
    const exported = await worker.export().catch(() => undefined);
    // It may have ended meanwhile, and its numbers are where they belong already.
    if (exported && this.#options.workers().includes(worker)) this.#last.set(worker, exported);
  }

  /** What it counted since it was last asked is lost; what it holds at the moment is gone with it. */
  workerEnded(worker: ExportingWorker): void {
    const last = this.#last.get(worker);
    this.#last.delete(worker);
    if (last) this.#ended.add(last.filter(({ kind }) => kind !== 'gauge'));
  }

  async #gather(): Promise<string> {
    const { own, empty, workers } = this.#options;
    await Promise.all(workers().map((worker) => this.refresh(worker)));
    const sum = empty();
    for (const part of [own.export(), this.#ended.export(), ...this.#last.values()]) sum.add(part);
    return sum.render();
  }
}

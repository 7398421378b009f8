import { describe, expect, it } from 'vitest';
import { type MetricExport, MetricRegistry } from '../../base/metrics.js';
import { type ExportingWorker, GroupMetrics } from './group-metrics.js';

function declared() {
  const registry = new MetricRegistry();
  return { registry, requests: registry.counter('requests', 'R.'), open: registry.gauge('open', 'O.') };
}

class PlayedWorker implements ExportingWorker {
  readonly #counted = declared();
  asked = 0;
  answers = true;

  count(requests: number, open: number): this {
    this.#counted.requests.labels().inc(requests);
    this.#counted.open.labels().set(open);
    return this;
  }

  export(): Promise<MetricExport> {
    this.asked += 1;
    return this.answers ? Promise.resolve(this.#counted.registry.export()) : Promise.reject(new Error('too slow'));
  }
}

function group(...workers: PlayedWorker[]) {
  const head = declared();
  const serving = [...workers];
  const metrics = new GroupMetrics({ head: head.registry, empty: () => declared().registry, workers: () => serving });
  const numbers = async () => {
    const page = await metrics.page();
    return { requests: Number(/^requests (\d+)$/m.exec(page)?.[1]), open: Number(/^open (\d+)$/m.exec(page)?.[1]) };
  };
  return { head, serving, metrics, numbers };
}

describe('GroupMetrics', () => {
  it('sums the metrics of the head and all workers', async () => {
    const { head, numbers } = group(new PlayedWorker().count(10, 1), new PlayedWorker().count(20, 2));
    head.requests.labels().inc(3);
    expect(await numbers()).toEqual({ requests: 33, open: 3 });
  });

  it('uses the last values of a worker that does not answer, so that counters never decrease', async () => {
    const slow = new PlayedWorker().count(10, 1);
    const { numbers } = group(slow, new PlayedWorker().count(20, 2));
    expect((await numbers()).requests).toBe(30);
    slow.answers = false;
    expect((await numbers()).requests).toBe(30);
    slow.answers = true;
    expect((await numbers()).requests).toBe(30);
  });

  it('keeps the counters of an ended worker, but not its gauges', async () => {
    const ending = new PlayedWorker().count(10, 5);
    const { numbers, serving, metrics } = group(ending, new PlayedWorker().count(20, 2));
    expect(await numbers()).toEqual({ requests: 30, open: 7 });
    serving.shift();
    metrics.workerEnded(ending);
    serving.push(new PlayedWorker().count(1, 1));
    expect(await numbers()).toEqual({ requests: 31, open: 3 });
  });

  it('counts a worker once that ends during its export', async () => {
    const ending = new PlayedWorker().count(10, 1);
    const { numbers, serving, metrics } = group(ending);
    await numbers();
    const page = numbers();
    serving.shift();
    metrics.workerEnded(ending);
    expect((await page).requests).toBe(10);
    expect((await numbers()).requests).toBe(10);
  });

  it('makes one page for concurrent calls', async () => {
    const worker = new PlayedWorker();
    const { metrics } = group(worker);
    await Promise.all([metrics.page(), metrics.page(), metrics.page()]);
    expect(worker.asked).toBe(1);
    await metrics.page();
    expect(worker.asked).toBe(2);
  });
});

/** Runs one load in a separate process, off the thread of the measured program, with messages over IPC. */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';

export interface LoadOrder {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly connections: number;
  readonly seconds: number;
  readonly method: string;
  /** `#` stands for a number that is never the same twice. */
  readonly path: string;
  /** Likewise; undefined for none. */
  readonly body: string | undefined;
  /** How numbers begin, so that two rounds do not meet. */
  readonly prefix: string;
  readonly expectedStatus: number;
  /** Every answer must hold this. */
  readonly expectedText: string;
}

export interface LoadAnswer {
  readonly requestsPerSecond: number;
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly wrong: readonly string[];
}

async function run(order: LoadOrder): Promise<LoadAnswer> {
  const pool = new Pool(order.url, {
    connections: order.connections,
    pipelining: 1,
    connect: { ca: readFileSync(order.ca), cert: readFileSync(order.cert), key: readFileSync(order.key) },
  });
  const latencies: number[] = [];
  const wrong: string[] = [];
  let next = 0;
  const endMs = performance.now() + order.seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < endMs && wrong.length < 5) {
      const number = `${order.prefix}-${next++}`;
      const begunMs = performance.now();
      const { statusCode, body } = await pool.request({
        method: order.method as 'GET',
        path: order.path.replace('#', number),
        headers: {
          accept: 'application/json',
          ...(order.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: order.body?.replace('#', number) ?? null,
      });
      const text = await body.text();
      latencies.push(performance.now() - begunMs);
      if (statusCode !== order.expectedStatus || !text.includes(order.expectedText))
        wrong.push(`${statusCode} ${text.slice(0, 200)}`);
    }
  };
  const begunMs = performance.now();
  await Promise.all(Array.from({ length: order.connections }, client));
  const seconds = (performance.now() - begunMs) / 1000;
  await pool.close();
  latencies.sort((left, right) => left - right);
  return {
    requestsPerSecond: latencies.length / seconds,
    meanMs: latencies.reduce((sum, each) => sum + each, 0) / latencies.length,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    wrong,
  };
}

process.once('message', (order: LoadOrder) => {
  run(order).then(
    (answer) => process.send!(answer, () => process.exit(0)),
    (error: Error) =>
      process.send!({ requestsPerSecond: 0, meanMs: 0, p99Ms: 0, wrong: [error.message] }, () => process.exit(1)),
  );
});

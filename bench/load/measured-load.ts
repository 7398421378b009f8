import type { Figures } from '../contest.js';
import { type Caller, type Contestant, CPU, proxyCpu } from '../contestants/contestant.js';
import { http2Load } from './http2-load.js';
import type { Load, Order } from './order.js';

export interface LoadShape {
  readonly connections: number;
  /** At once on each connection. */
  readonly streams: number;
  readonly seconds: number;
}

/** Long enough that connecting hardly counts, short enough for many rounds. */
const WIDE: LoadShape = { connections: 8, streams: 4, seconds: 2 };
const NARROW: LoadShape = { connections: 1, streams: 1, seconds: 1 };
const TRIAL_REQUESTS = 400;
/** A proxy in JavaScript is compiled while it runs; what is measured is one that has run for a while. */
const WARM_SECONDS = 3;
const REQUESTS_MIN = 40;

export const THROUGHPUT = 'throughput';
export const LATENCY = 'mean latency, 1 stream';

export type Asked = Pick<Order, 'path' | 'headers' | 'expected' | 'bodyFile'>;

/**
 * Loads contestants for about as long as told. A load is a number of requests, so that every answer can be counted;
 * how many fit into the time is learnt from the load before.
 */
export class MeasuredLoad {
  readonly #rates = new Map<string, number>();

  constructor(readonly caller: Caller) {}

  /** Throughput on many streams with the proxy's CPU time, then the latency of one request at a time. */
  async both(contestant: Contestant, asked: Asked): Promise<Figures> {
    const wide = await this.throughput(contestant, asked);
    const { load } = await this.#run(contestant, asked, NARROW);
    return { ...wide, [LATENCY]: load.meanMs };
  }

  async throughput(contestant: Contestant, asked: Asked, shape = WIDE): Promise<Figures> {
    const { load, cpuMicros } = await this.#run(contestant, asked, shape);
    return { [THROUGHPUT]: load.requestsPerSecond, ...(cpuMicros === undefined ? {} : { [CPU]: cpuMicros }) };
  }

  async #run(contestant: Contestant, asked: Asked, shape: LoadShape) {
    const { connections, streams, seconds } = shape;
    const key = JSON.stringify([contestant.name, asked, connections, streams]);
    const send = async (requests: number): Promise<{ load: Load; cpuMicros: number | undefined }> => {
      const order: Order = {
        url: contestant.url,
        caFile: this.caller.caFile,
        ...asked,
        headers: { authorization: `Bearer ${this.caller.token}`, ...asked.headers },
        connections,
        streams,
        requests: Math.max(requests, connections * streams),
      };
      const { done, cpuMicros } = await proxyCpu(contestant, order.requests, () => http2Load(order));
      this.#rates.set(key, done.requestsPerSecond);
      return { load: done, cpuMicros };
    };
    const fitting = (forSeconds: number): number =>
      Math.max(REQUESTS_MIN, Math.round(this.#rates.get(key)! * forSeconds));
    if (!this.#rates.has(key)) {
      await send(TRIAL_REQUESTS);
      await send(fitting(WARM_SECONDS));
    }
    return send(fitting(seconds));
  }
}

import type { Figures } from '../contest.js';
import { type Caller, type Contestant, CPU, proxyCpu } from '../contestants/contestant.js';
import { http1Load } from './http1-load.js';
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
/** Short, because a machine that others use is alike only for moments, and the comparison is with the moment before and after. */
const PAIRED_SECONDS = 0.6;
const TRIAL_REQUESTS = 100;
/** Where a number of requests cannot be asked for. */
const TRIAL_SECONDS = 1;
/**
 * A proxy in JavaScript is compiled while it runs: the CPU time of a request falls by half until some ten thousand were
 * answered. Whoever is measured has answered so many before, or as many as fit into the longest time; what it is then
 * asked for the first time gets the shortest.
 */
const WARM_REQUESTS = 10_000;
const WARM_SECONDS_MIN = 3;
const WARM_SECONDS_MAX = 8;
const REQUESTS_MIN = 40;

export const THROUGHPUT = 'throughput';
export const LATENCY = 'mean latency, 1 stream';
/** Over what a direct request took just before and just after. */
export const ADDED_LATENCY = 'added mean latency, 1 stream';
export const HTTP1_THROUGHPUT = 'throughput over HTTP/1.1';
export const HTTP1_CPU = `${CPU}, HTTP/1.1`;

export type Asked = Pick<Order, 'path' | 'headers' | 'expected' | 'bodyFile'>;

type Protocol = 'h2' | 'http/1.1';

interface Measured {
  readonly load: Load;
  readonly cpuMicros: number | undefined;
}

/**
 * Loads contestants for about as long as told. A load is a number of requests, so that every answer can be counted;
 * how many fit into the time is learnt from the load before.
 */
export class MeasuredLoad {
  readonly #rates = new Map<string, number>();
  /** Requests sent to each process so far. */
  readonly #sent = new Map<string, number>();

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

  /** As many requests at once as `throughput`, each on a connection of its own. */
  async http1Throughput(contestant: Contestant, asked: Asked): Promise<Figures> {
    const { load, cpuMicros } = await this.#run(contestant, asked, WIDE, 'http/1.1');
    return {
      [HTTP1_THROUGHPUT]: load.requestsPerSecond,
      ...(cpuMicros === undefined ? {} : { [HTTP1_CPU]: cpuMicros }),
    };
  }

  /** One request at a time, with direct ones before and after: half as long each, so that a steady drift cancels out. */
  async addedLatency(contestant: Contestant, direct: Contestant, asked: Asked): Promise<Figures> {
    // One request at a time would take long to have everything compiled.
    if (!this.#sent.has(processOf(contestant))) await this.#run(contestant, asked, WIDE);
    const meanMs = async (who: Contestant, seconds: number): Promise<number> =>
      (await this.#run(who, asked, { ...NARROW, seconds })).load.meanMs;
    if (contestant.name === direct.name) return { [LATENCY]: await meanMs(direct, PAIRED_SECONDS) };
    const before = await meanMs(direct, PAIRED_SECONDS / 2);
    const through = await meanMs(contestant, PAIRED_SECONDS);
    const after = await meanMs(direct, PAIRED_SECONDS / 2);
    return { [LATENCY]: through, [ADDED_LATENCY]: through - (before + after) / 2 };
  }

  async #run(contestant: Contestant, asked: Asked, shape: LoadShape, protocol: Protocol = 'h2'): Promise<Measured> {
    const key = JSON.stringify([processOf(contestant), asked, shape.connections, shape.streams, protocol]);
    const rate = (): number => this.#rates.get(key)!;
    const send = async (requests: number, seconds: number): Promise<Measured> => {
      const measured = await this.#send(contestant, asked, { ...shape, seconds }, protocol, requests);
      this.#rates.set(key, measured.load.requestsPerSecond);
      return measured;
    };
    const sendFor = (seconds: number): Promise<Measured> =>
      send(Math.max(REQUESTS_MIN, Math.round(rate() * seconds)), seconds);
    if (!this.#rates.has(key)) {
      await send(TRIAL_REQUESTS, TRIAL_SECONDS);
      const cold = WARM_REQUESTS - (this.#sent.get(processOf(contestant)) ?? 0);
      await sendFor(Math.min(WARM_SECONDS_MAX, Math.max(WARM_SECONDS_MIN, cold / rate())));
    }
    return sendFor(shape.seconds);
  }

  async #send(
    contestant: Contestant,
    asked: Asked,
    { connections, streams, seconds }: LoadShape,
    protocol: Protocol,
    requests: number,
  ): Promise<Measured> {
    const order: Order = {
      url: contestant.url,
      caFile: this.caller.caFile,
      ...asked,
      headers: { authorization: `Bearer ${this.caller.token}`, ...asked.headers },
      connections,
      streams,
      requests: Math.max(requests, connections * streams),
    };
    const work = (): Promise<Load> => (protocol === 'h2' ? http2Load(order) : http1Load(order, seconds));
    const { done, cpuSeconds } = await proxyCpu(contestant, work);
    this.#sent.set(processOf(contestant), (this.#sent.get(processOf(contestant)) ?? 0) + done.requests);
    const cpuMicros = cpuSeconds === undefined ? undefined : (cpuSeconds * 1e6) / done.requests;
    return { load: done, cpuMicros };
  }
}

/** A proxy that was started again is another, and cold. */
function processOf({ name, proxyPid }: Contestant): string {
  return `${name} ${proxyPid}`;
}

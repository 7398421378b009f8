import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import type { MetricRegistry } from '../../base/metrics.js';
import type { SourcedFlow } from '../page/flow-log.js';
import type { FlowExport } from '../page/flow-recorder.js';
import type { PassthroughState } from '../passthrough/passthrough.js';
import type { EndpointName } from '../peers/endpoint-pool.js';
import { Acceptor } from './acceptor.js';
import { GroupMetrics } from './group-metrics.js';
import type { SharedView } from './shared-view.js';
import type { Question } from './worker-messages.js';
import { WorkerProcess, type WorkerProgram } from './worker-process.js';

export interface WorkerGroupOptions {
  readonly workers: number;
  readonly program: WorkerProgram;
  readonly host: string;
  readonly port: number;
  readonly connectionsMax: number;
  readonly config: unknown;
  readonly view: SharedView;
  readonly localReady: () => boolean;
  readonly passthrough: () => PassthroughState;
  readonly answer: (question: Exclude<Question, { what: 'metrics' }>) => Promise<unknown>;
  readonly metrics: Metrics;
  readonly emptyMetrics: () => MetricRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Delay until a restart; doubles while workers end soon after their start. */
  readonly restart?: Partial<RestartTimes>;
}

export interface RestartTimes {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Lifetime after which an end no longer counts as a repeated failure. */
  readonly settledMs: number;
}

const RESTART_TIMES: RestartTimes = { firstMs: 250, maxMs: 30_000, settledMs: 60_000 };
/** Margin beyond the drain time, after which a worker counts as hanging. */
const STOP_MARGIN_MS = 3_000;
const START_MS_MAX = 60_000;
/** Interval of reading each worker's metrics: bounds the loss when it ends, detects hangs. */
const LOOK_EVERY_MS = 10_000;
const LOOKS_UNHEARD_MAX = 6;

interface Slot {
  readonly worker: number;
  process: WorkerProcess | undefined;
  startedAtMs: number;
  /** Consecutive ends of workers that lived less than `settledMs`. */
  failures: number;
  cancelRestart: () => void;
}

/** The head's side of several workers behind one port: starts, restarts and stops them. */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #times: RestartTimes;
  readonly #slots: Slot[];
  readonly #acceptor: Acceptor;
  readonly #metrics: GroupMetrics;
  /** Pending promise of `begin`; undefined before and after it. */
  #starting: { resolve(): void; reject(error: Error): void } | undefined;
  /** `begin` was called: new workers get their configuration at once. */
  #begun = false;
  #endedEarly: string | undefined;
  /** All workers have served once. Before that, the first worker would get all waiting connections. */
  #isOpen = false;
  readonly #lastFlows = new WeakMap<WorkerProcess, FlowExport>();
  #lastProcess = 0;
  #cancelLook = () => {};
  #stopping = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#times = { ...RESTART_TIMES, ...options.restart };
    this.#slots = Array.from({ length: options.workers }, (_, i) => ({
      worker: i + 1,
      process: undefined,
      startedAtMs: 0,
      failures: 0,
      cancelRestart: () => {},
    }));
    const { host, port, connectionsMax, clock, logger, metrics, emptyMetrics } = options;
    const takers = () => (this.#isOpen ? this.#processes() : []);
    this.#acceptor = new Acceptor({ host, port, connectionsMax, clock, logger, takers });
    this.#metrics = new GroupMetrics({
      head: metrics.registry,
      empty: emptyMetrics,
      workers: () => this.#processes().filter(({ isTaking }) => isTaking),
    });
    // From 0 on: Prometheus takes the first value of a series for no increase.
    metrics.workerRestarts.labels();
    metrics.registry.collect(() => this.#fillGauges());
  }

  /** Opens the port and forks the workers, which serve after `begin`. */
  async listen(): Promise<AddressInfo> {
    const bound = await this.#acceptor.listen();
    for (const slot of this.#slots) this.#fork(slot);
    return bound;
  }

  /** Starts the workers; resolves when all serve, rejects with the reason of the first that cannot. */
  async begin(): Promise<void> {
    this.#begun = true;
    let cancel = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        this.#starting = { resolve, reject };
        cancel = this.#options.clock.after(START_MS_MAX, () =>
          reject(
            new Error(`Timeout: not every worker serves after ${START_MS_MAX / 1_000} s; see the log of the workers.`),
          ),
        );
        for (const { process } of this.#slots) process?.start();
        if (this.#endedEarly !== undefined) reject(new Error(this.#endedEarly));
      });
      this.#isOpen = true;
      this.#acceptor.takerReady();
      this.#lookLater();
    } finally {
      this.#starting = undefined;
      cancel();
    }
  }

  /** Asks every worker to drain and stop. A worker that does not serve yet is killed. */
  announceStop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#cancelLook();
    for (const slot of this.#slots) {
      slot.cancelRestart();
      slot.process?.stop();
    }
  }

  /** Stops listening; resolves when every worker has ended. Kills workers that hang. */
  async close(graceMs: number): Promise<void> {
    this.#acceptor.close();
    this.announceStop();
    const cancel = this.#options.clock.after(graceMs + STOP_MARGIN_MS, () => this.#killAll());
    await Promise.all(this.#processes().map(({ ended }) => ended));
    cancel();
  }

  /** Kills all workers at once; their requests are cut off. */
  destroy(): void {
    this.#stopping = true;
    this.#cancelLook();
    this.#acceptor.close();
    this.#killAll();
  }

  hangs(endpoint: EndpointName, why: string): void {
    for (const process of this.#processes()) if (process.isTaking) process.tell({ type: 'hang', endpoint, why });
  }

  /** Sends the state to every worker, also to one that starts: that one has it before its first connection. */
  passthrough(state: PassthroughState): void {
    for (const process of this.#processes()) process.tell({ type: 'passthrough', state });
  }

  /**
   * Returns what the recorders of all workers hold, by numbers that no two processes share. For a worker that does not answer in
   * time the last answer stands. Never rejects.
   */
  async flows({ withUses }: { readonly withUses: boolean }): Promise<readonly SourcedFlow[]> {
    const processes = this.#processes().filter(({ isTaking }) => isTaking);
    const flows = processes.map(async (process): Promise<readonly SourcedFlow[]> => {
      const flow = (await process.flow(withUses).catch(() => undefined)) ?? this.#lastFlows.get(process);
      if (!flow) return [];
      this.#lastFlows.set(process, flow);
      return [[process.number, flow]];
    });
    return (await Promise.all(flows)).flat();
  }

  #processes(): WorkerProcess[] {
    return this.#slots.flatMap(({ process }) => process ?? []);
  }

  #killAll(): void {
    const left = this.#processes();
    if (left.length > 0)
      this.#options.logger.warn('killed the workers that did not stop before the timeout', { workers: left.length });
    for (const process of left) process.kill();
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.after(LOOK_EVERY_MS, () => {
      for (const { worker, process } of this.#slots) if (process) this.#look(worker, process);
      this.#lookLater();
    });
  }

  #look(worker: number, process: WorkerProcess): void {
    if (process.look() >= LOOKS_UNHEARD_MAX) {
      this.#options.logger.error('a worker does not respond (timeout) and is killed', { worker });
      process.kill();
    } else if (process.isTaking) void this.#metrics.refresh(process);
  }

  #fork(slot: Slot): void {
    const { program, config, view, localReady, passthrough, clock, answer } = this.#options;
    slot.startedAtMs = clock.nowMs();
    const process: WorkerProcess = new WorkerProcess({
      program,
      worker: slot.worker,
      number: ++this.#lastProcess,
      config,
      view,
      localReady,
      passthrough,
      clock,
      answer: (question) => (question.what === 'metrics' ? this.#metrics.page() : answer(question)),
      onServing: () => this.#serving(slot),
      onEnd: (why) => this.#ended(slot, process, why),
    });
    slot.process = process;
    if (this.#begun) process.start();
  }

  #serving(slot: Slot): void {
    this.#options.logger.info('a worker serves', { worker: slot.worker, pid: slot.process?.pid });
    if (this.#isOpen) this.#acceptor.takerReady();
    else if (this.#processes().every(({ isTaking }) => isTaking)) this.#starting?.resolve();
  }

  #ended(slot: Slot, process: WorkerProcess, why: string): void {
    slot.process = undefined;
    this.#acceptor.takerGone(process);
    this.#metrics.workerEnded(process);
    if (this.#stopping) return;
    if (this.#starting) {
      this.#starting.reject(new Error(why));
      return;
    }
    if (this.#begun) this.#restart(slot, why);
    else this.#endedEarly = why;
  }

  #restart(slot: Slot, why: string): void {
    const { clock, logger, metrics } = this.#options;
    const { firstMs, maxMs, settledMs } = this.#times;
    if (clock.nowMs() - slot.startedAtMs >= settledMs) slot.failures = 0;
    const inMs = Math.min(maxMs, firstMs * 2 ** Math.min(slot.failures, 20));
    slot.failures += 1;
    metrics.workerRestarts.labels().inc();
    logger.error('a worker ended unexpectedly and is restarted; its connections were reset', {
      worker: slot.worker,
      why,
      inMs,
    });
    slot.cancelRestart = clock.after(inMs, () => this.#fork(slot));
  }

  #fillGauges(): void {
    const { workerConnections } = this.#options.metrics;
    workerConnections.reset();
    for (const { worker, process } of this.#slots) {
      if (process?.isTaking) workerConnections.labels(String(worker)).set(process.connections);
    }
  }
}

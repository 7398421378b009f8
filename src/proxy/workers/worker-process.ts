import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import type { MetricExport } from '../../base/metrics.js';
import type { FlowExport } from '../page/flow-recorder.js';
import type { PassthroughState } from '../passthrough/passthrough.js';
import type { Taker } from './acceptor.js';
import { type Channel, channelToWorker } from './channel.js';
import type { ExportingWorker } from './group-metrics.js';
import { PendingAnswers } from './pending-answers.js';
import type { SharedView, Subscription } from './shared-view.js';
import type { Question, ToHead, ToWorker, ViewUpdate } from './worker-messages.js';

/** Command line that runs this program as a worker. */
export interface WorkerProgram {
  /** Arguments of Node.js itself. */
  readonly execArgv: readonly string[];
  readonly file: string;
  readonly arguments: readonly string[];
}

export interface WorkerProcessOptions {
  readonly program: WorkerProgram;
  readonly worker: number;
  /** Unlike `worker`, another one for each process. */
  readonly number: number;
  readonly config: unknown;
  readonly view: SharedView;
  readonly localReady: () => boolean;
  readonly passthrough: () => PassthroughState;
  readonly answer: (question: Question) => Promise<unknown>;
  readonly clock: Clock;
  readonly onServing: () => void;
  /** The process has ended; `why` is the reason it reported, else its exit code or signal. */
  readonly onEnd: (why: string) => void;
}

/** Timeout of one worker's part of a metrics page. */
const EXPORT_MS_MAX = 1_000;

/** One worker process in the head, from its start to its end. */
export class WorkerProcess implements Taker, ExportingWorker {
  readonly #options: WorkerProcessOptions;
  readonly #child: ChildProcess;
  readonly #channel: Channel<ToWorker, ToHead>;
  readonly #subscription: Subscription;
  readonly #exports: PendingAnswers;
  readonly #flows: PendingAnswers;
  /** Connections whose transfer to the worker is not complete. */
  readonly #leaving = new Set<Socket>();
  readonly ended: Promise<void>;
  #state: 'starting' | 'serving' | 'draining' | 'ended' = 'starting';
  #connections = 0;
  #looksUnheard = 0;
  #saidWhy: string | undefined;

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    const { file, arguments: args, execArgv } = options.program;
    this.#child = fork(file, args, {
      execArgv: [...execArgv],
      // Structured clone: byte arrays are sent as bytes.
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#exports = new PendingAnswers(options.clock);
    this.#flows = new PendingAnswers(options.clock);
    this.#channel = channelToWorker(this.#child);
    this.#channel.onMessage((message) => this.#heard(message));
    this.#subscription = options.view.subscribe((view: ViewUpdate) => this.#channel.send({ type: 'view', view }));
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#end(error.message, resolve));
      this.#child.once('exit', (code, signal) =>
        this.#end(signal === null ? `exit code ${code}` : `signal ${signal}`, resolve),
      );
    });
  }

  get number(): number {
    return this.#options.number;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isTaking(): boolean {
    return this.#state === 'serving';
  }

  get connections(): number {
    return this.#connections;
  }

  /** Returns the number of looks in a row without a message; 0 during a drain. */
  look(): number {
    return this.#state === 'draining' ? 0 : this.#looksUnheard++;
  }

  /** Sends the worker its configuration and the first view. */
  start(): void {
    const { config, worker, localReady, passthrough } = this.#options;
    this.#channel.send({
      type: 'start',
      config,
      worker,
      view: this.#subscription.first(),
      localReady: localReady(),
      passthrough: passthrough(),
    });
  }

  take(socket: Socket): void {
    this.#connections += 1;
    this.#leaving.add(socket);
    this.#channel.send({ type: 'connection' }, socket, () => this.#leaving.delete(socket));
  }

  tell(message: ToWorker): void {
    this.#channel.send(message);
  }

  export(): Promise<MetricExport> {
    return this.#exports.ask((id) => this.#channel.send({ type: 'export', id }), EXPORT_MS_MAX);
  }

  /** Returns what the recorder of the worker's traffic holds. Rejects after a timeout. */
  flow(withUses: boolean): Promise<FlowExport> {
    return this.#flows.ask((id) => this.#channel.send({ type: 'export-flow', id, withUses }), EXPORT_MS_MAX);
  }

  /** Asks the worker to drain and stop. A worker that does not serve yet is killed. */
  stop(): void {
    if (this.#state === 'starting') this.kill();
    else this.#channel.send({ type: 'stop' });
  }

  kill(): void {
    if (this.#state !== 'ended') this.#child.kill('SIGKILL');
  }

  #heard(message: ToHead): void {
    const { onServing } = this.#options;
    this.#looksUnheard = 0;
    switch (message.type) {
      case 'serving':
        this.#state = 'serving';
        onServing();
        break;
      case 'failed':
        this.#saidWhy = message.why;
        break;
      case 'connections-closed':
        this.#connections -= message.count;
        break;
      case 'draining':
        this.#state = 'draining';
        break;
      case 'endpoint-failed':
        this.#subscription.endpointFailed(message.endpoint, message.why, message.failure);
        break;
      case 'exported':
        this.#exports.answered(message.id, message.metrics);
        break;
      case 'exported-flow':
        this.#flows.answered(message.id, message.flow);
        break;
      case 'question':
        void this.#answer(message.id, message.question);
    }
  }

  async #answer(id: number, question: Question): Promise<void> {
    const { answer, view } = this.#options;
    try {
      const value = await answer(question);
      // The answer may have changed the view: the worker gets the view before the answer.
      view.flush();
      this.#channel.send({ type: 'answer', id, value });
    } catch (error) {
      this.#channel.send({ type: 'answer', id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #end(how: string, resolve: () => void): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#subscription.end();
    this.#flows.failAll(new Error('the worker has ended'));
    this.#exports.failAll(new Error('the worker has ended'));
    for (const socket of this.#leaving) socket.destroy();
    this.#options.onEnd(this.#saidWhy ?? how);
    resolve();
  }
}

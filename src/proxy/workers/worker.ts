import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import type { MetricRegistry } from '../../base/metrics.js';
import type { Destination } from '../../http/outgoing.js';
import type { Surface } from '../../kube/surface.js';
import type { FlowRecorder } from '../page/flow-recorder.js';
import type { KnownSections, PageUpdate } from '../page/page-snapshot.js';
import type { ReachDocument } from '../page/reach-document.js';
import type { EndpointName } from '../peers/endpoint-pool.js';
import { buildSurface } from '../peers/surface-documents.js';
import type { Channel } from './channel.js';
import { PendingAnswers } from './pending-answers.js';
import { ReplicaDirectory } from './replica-directory.js';
import { ReplicaPassthrough } from './replica-passthrough.js';
import { ReplicaSurface } from './replica-surface.js';
import type { Question, ToHead, ToWorker, ViewUpdate } from './worker-messages.js';

export interface WorkerOptions {
  readonly channel: Channel<ToHead, ToWorker>;
  readonly start: Extract<ToWorker, { type: 'start' }>;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  makeDestination(endpoint: EndpointName): Destination;
}

/** Timeouts for a head that hangs; the head bounds its reads itself. */
const READ_MS_MAX = 6_000;
const METRICS_MS_MAX = 3_000;
const SWITCH_MS_MAX = 4_000;
const PAGE_MS_MAX = 5_000;

/** The worker's side: copies of the head's surface and peer directory, requests to the head. */
export class Worker {
  readonly surface: ReplicaSurface;
  readonly directory: ReplicaDirectory;
  readonly passthrough: ReplicaPassthrough;
  readonly #options: WorkerOptions;
  readonly #answers: PendingAnswers;
  readonly #surfaces = new Map<number, Surface>();
  #recorder: Pick<FlowRecorder, 'export'> | undefined;
  #closedConnections = 0;
  #takeSocket: (socket: Socket) => void = (socket) => socket.destroy();

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { channel, clock, start } = options;
    this.#answers = new PendingAnswers(clock);
    this.surface = new ReplicaSurface({
      isFresh: start.localReady && start.view.local !== undefined,
      refresh: () => this.#ask({ what: 'refresh-local' }, READ_MS_MAX).then(nothing, nothing),
      readAnew: async () => void (await this.#ask({ what: 'read-local-anew' }, READ_MS_MAX)),
    });
    this.directory = new ReplicaDirectory({
      makeDestination: (endpoint) => options.makeDestination(endpoint),
      tellFailure: (endpoint, why, failure) => channel.send({ type: 'endpoint-failed', endpoint, why, failure }),
      refresh: (identity) => this.#ask({ what: 'refresh-peer', identity }, READ_MS_MAX).then(nothing, nothing),
      clock,
    });
    this.passthrough = new ReplicaPassthrough(start.passthrough, (wanted) =>
      this.#ask({ what: 'passthrough', wanted }, SWITCH_MS_MAX),
    );
    this.#takeView(start.view);
  }

  /** Sets the function that gets the connections from now on. Until then, connections are closed. */
  takeConnections(take: (socket: Socket) => void): void {
    this.#takeSocket = take;
  }

  drain(): void {
    this.#options.channel.send({ type: 'draining' });
  }

  /** Returns the metrics page of all processes together. */
  metricsPage(): Promise<string> {
    return this.#ask({ what: 'metrics' }, METRICS_MS_MAX);
  }

  /** Returns what has changed in the state of the page. */
  pageUpdate(known: KnownSections): Promise<PageUpdate> {
    return this.#ask({ what: 'page', known }, PAGE_MS_MAX);
  }

  /** Returns whom this server reaches. */
  reach(): Promise<ReachDocument> {
    return this.#ask({ what: 'reach' }, PAGE_MS_MAX);
  }

  /** Sets the recorder of this worker's traffic, for which the head asks. */
  recordsFlow(recorder: Pick<FlowRecorder, 'export'>): void {
    this.#recorder = recorder;
  }

  heard(message: ToWorker, socket: Socket | undefined): void {
    const { channel, metrics } = this.#options;
    switch (message.type) {
      case 'view':
        this.#takeView(message.view);
        break;
      case 'passthrough':
        this.passthrough.take(message.state);
        break;
      case 'hang':
        this.directory.hangs(message.endpoint, message.why);
        break;
      case 'connection':
        this.#takeConnection(socket);
        break;
      case 'export':
        channel.send({ type: 'exported', id: message.id, metrics: metrics.export() });
        break;
      case 'export-flow':
        if (this.#recorder) {
          channel.send({ type: 'exported-flow', id: message.id, flow: this.#recorder.export(message) });
        }
        break;
      case 'answer':
        if (message.error === undefined) this.#answers.answered(message.id, message.value);
        else this.#answers.failed(message.id, new Error(message.error));
    }
  }

  /** Counts a connection. A client that left in the transfer has no socket, but was counted. */
  #takeConnection(socket: Socket | undefined): void {
    if (!socket) {
      this.#connectionClosed();
      return;
    }
    socket.once('close', () => this.#connectionClosed());
    this.#takeSocket(socket);
  }

  /** Reports closed connections once per turn: a thousand clients may leave together. */
  #connectionClosed(): void {
    this.#closedConnections += 1;
    if (this.#closedConnections > 1) return;
    setImmediate(() => {
      const count = this.#closedConnections;
      this.#closedConnections = 0;
      this.#options.channel.send({ type: 'connections-closed', count });
    });
  }

  #takeView(view: ViewUpdate): void {
    for (const { id, bytes } of view.surfaces) this.#surfaces.set(id, readSurface(bytes));
    const used = new Set([view.local, ...view.peers.map(({ surface }) => surface)]);
    for (const { surface } of view.departed) used.add(surface);
    for (const id of this.#surfaces.keys()) if (!used.has(id)) this.#surfaces.delete(id);
    this.surface.take(view.local === undefined ? undefined : this.#surfaces.get(view.local));
    this.directory.take(view, this.#surfaces);
  }

  #ask<Answer>(question: Question, timeoutMs: number): Promise<Answer> {
    const { channel } = this.#options;
    return this.#answers.ask<Answer>((id) => channel.send({ type: 'question', id, question }), timeoutMs);
  }
}

function nothing(): void {}

/** Builds a surface without checks: the head has validated the documents. */
function readSurface(bytes: Uint8Array): Surface {
  return buildSurface(JSON.parse(Buffer.from(bytes).toString()) as Parameters<typeof buildSurface>[0]);
}

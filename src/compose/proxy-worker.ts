import type { AddressInfo } from 'node:net';
import { type Logger, type LoggerIo, serverLogger } from '../base/logger.js';
import { Destinations } from '../http/client/destinations.js';
import { StatusError } from '../kube/status-error.js';
import { type Channel, channelToHead } from '../proxy/workers/channel.js';
import { Worker } from '../proxy/workers/worker.js';
import type { ToHead, ToWorker } from '../proxy/workers/worker-messages.js';
import { createListener, type Front } from './client-side.js';
import type { ProxyConfig } from './config/proxy-config.js';
import { makeUpstreamHost } from './make-upstream-host.js';
import { replicatedPage } from './page.js';
import { surroundingsOf } from './program-surroundings.js';
import { replicatedView } from './replicated-view.js';
import { type RunningServer, startServer } from './start-server.js';

export interface WorkerIo extends LoggerIo {
  readonly onStopSignal: (listener: (signal: string) => void) => () => void;
  readonly exitNow: (code: number) => void;
}

type Start = Extract<ToWorker, { type: 'start' }>;
type Received = Parameters<Parameters<Channel<ToHead, ToWorker>['onMessage']>[0]>;

/** Serves connections of the head until its stop message or end; resolves with the exit code. */
export async function runProxyWorker(io: WorkerIo): Promise<number> {
  const channel = channelToHead();
  if (!channel) throw new Error('A worker is started by `straddle proxy --workers`.');
  const end = endings(channel, io);
  const inbox = new Inbox(channel);
  const start = await Promise.race([inbox.start, end.first]);
  if (typeof start === 'string') return 1;
  const config = start.config as ProxyConfig;
  const logger = serverLogger(config, io).with({ worker: start.worker });
  let running: RunningServer;
  let worker: Worker;
  try {
    ({ running, worker } = await startWorker(config, { channel, start, inbox, logger }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await new Promise<void>((sent) => channel.send({ type: 'failed', why }, undefined, sent));
    return 1;
  }
  const why = await end.first;
  // SIGTERM to this worker alone drains it; else the head still passes connections.
  if (why === 'SIGTERM') worker.drain();
  if (why === 'orphaned') logger.error('the process that this worker belongs to has ended; it ends too');
  await running.close();
  return why === 'orphaned' ? 1 : 0;
}

async function startWorker(
  config: ProxyConfig,
  {
    channel,
    start,
    inbox,
    logger,
  }: {
    readonly channel: Channel<ToHead, ToWorker>;
    readonly start: Start;
    readonly inbox: Inbox;
    readonly logger: Logger;
  },
): Promise<{ readonly running: RunningServer; readonly worker: Worker }> {
  const surroundings = await surroundingsOf(config, logger, config.upstream);
  const { tls, clock, metrics } = surroundings;
  const destinations = new Destinations(() => tls.peerTls());
  tls.onOutgoingChange(() => destinations.renew());
  const worker = new Worker({
    channel,
    start,
    clock,
    metrics: metrics.registry,
    makeDestination: ({ address }) => destinations.make(address),
  });
  inbox.deliverTo((...received) => worker.heard(...received));
  const running = await startServer(config, {
    ...surroundings,
    passthrough: worker.passthrough,
    makeHost: (surface, among) => makeUpstreamHost(config, surroundings, surface, among),
    makeView: async () => replicatedView(config, worker),
    makePage: (parts) => {
      const page = replicatedPage(parts, worker);
      worker.recordsFlow(page.recorder);
      return page;
    },
    makeFront: (parts, state): Front => {
      const { listener, inner } = createListener(parts, state, { metricsPage: () => metricsPage(worker) });
      const nowhere: AddressInfo = { address: config.bindAddress, port: config.securePort, family: '' };
      return {
        listener: {
          // The head listens and passes connections.
          listen: async () => {
            worker.takeConnections((socket) => listener.take(socket));
            return nowhere;
          },
          close: (graceMs) => listener.close(graceMs),
          destroy: () => listener.destroy(),
        },
        inner,
      };
    },
  });
  channel.send({ type: 'serving' });
  return { running, worker };
}

async function metricsPage(worker: Worker): Promise<string> {
  try {
    return await worker.metricsPage();
  } catch (error) {
    throw new StatusError(
      'ServiceUnavailable',
      `the metrics of all processes cannot be had: ${(error as Error).message}`,
    );
  }
}

/** Stores messages that arrive before the worker has been made. */
class Inbox {
  readonly start: Promise<Start>;
  readonly #early: Received[] = [];
  #deliver: ((...received: Received) => void) | undefined;

  constructor(channel: Channel<ToHead, ToWorker>) {
    this.start = new Promise((resolve) => {
      channel.onMessage((message, socket) => {
        if (message.type === 'start') resolve(message);
        else if (this.#deliver) this.#deliver(message, socket);
        else this.#early.push([message, socket]);
      });
    });
  }

  deliverTo(deliver: (...received: Received) => void): void {
    this.#deliver = deliver;
    for (const received of this.#early.splice(0)) deliver(...received);
  }
}

type Ending = 'told' | 'SIGTERM' | 'orphaned';

/** Resolves with the first reason to end. If the head ends during a drain, exits at once. */
function endings(channel: Channel<ToHead, ToWorker>, io: WorkerIo): { readonly first: Promise<Ending> } {
  let isEnding = false;
  const first = new Promise<Ending>((resolve) => {
    const because = (why: Ending) => (): void => {
      isEnding = true;
      resolve(why);
    };
    channel.onMessage(({ type }) => {
      if (type === 'stop') because('told')();
    });
    process.once('disconnect', () => {
      if (isEnding) io.exitNow(1);
      because('orphaned')();
    });
    // SIGINT is ignored: Ctrl-C reaches every process of a terminal, and the head sends a stop message.
    io.onStopSignal((signal) => {
      if (signal === 'SIGTERM') because('SIGTERM')();
    });
  });
  return { first };
}

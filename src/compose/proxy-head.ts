import type { Logger } from '../base/logger.js';
import { createMetrics } from '../base/metric-catalogue.js';
import { CONNECTIONS_WAITING_MAX } from '../http/server/listener-limits.js';
import { updateFor } from '../proxy/page/page-snapshot.js';
import { readWanted } from '../proxy/passthrough/passthrough.js';
import { SharedView } from '../proxy/workers/shared-view.js';
import { WorkerGroup } from '../proxy/workers/worker-group.js';
import type { Question } from '../proxy/workers/worker-messages.js';
import type { WorkerProgram } from '../proxy/workers/worker-process.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { LimitsConfig } from './config/server-config.js';
import { makeUpstreamHost } from './make-upstream-host.js';
import { observedView } from './observed-view.js';
import { openPassthrough } from './open-passthrough.js';
import { observedPage } from './page.js';
import type { ObservedViewOptions } from './peering.js';
import { surroundingsOf } from './program-surroundings.js';
import type { Parts } from './server-parts.js';
import { type RunningServer, startServer } from './start-server.js';

/**
 * Starts a sidecar of several processes. This one is the head: it accepts connections for the workers, observes all
 * servers, and keeps the lease and the memory of departed servers. Rejects, with nothing left running, if it cannot start.
 */
export async function startProxyHead(
  config: ProxyConfig,
  { logger, program }: { readonly logger: Logger; readonly program: WorkerProgram },
): Promise<RunningServer> {
  const surroundings = await surroundingsOf(config, logger, config.upstream);
  const passthrough = await openPassthrough(config, surroundings);
  let group: WorkerGroup | undefined;
  let shared: SharedView | undefined;
  const health: ObservedViewOptions['health'] = {
    onHealth: () => shared?.changed(),
    onHang: ({ kind, destination: { address } }, why) => group?.hangs({ kind, address }, why),
  };
  const running = await startServer(config, {
    ...surroundings,
    passthrough,
    makeHost: (surface, among) => makeUpstreamHost(config, surroundings, surface, among),
    makeView: (server) => observedView(config, { ...surroundings, kubeconfig: config.kubeconfig, health }, server),
    makePage: (parts) =>
      observedPage(parts, { product: 'sidecar', flows: async (options) => (await group?.flows(options)) ?? [] }),
    makeFront: (parts) => {
      shared = sharedView(parts);
      const workers = workerGroup(parts, config, shared, program);
      group = workers;
      passthrough.onChange((state) => workers.passthrough(state));
      return { listener: workers, inner: parts.router };
    },
  });
  const close = (): Promise<void> => {
    group?.announceStop();
    return running.close();
  };
  try {
    await group?.begin();
  } catch (error) {
    await close();
    throw error;
  }
  return { ...running, close };
}

function sharedView({ view: { local, directory } }: Parts): SharedView {
  const shared = new SharedView({ localSurface: () => local.surface, directory });
  local.onChange(() => shared.changed());
  directory.onChange(() => shared.changed());
  return shared;
}

function workerGroup(parts: Parts, config: ProxyConfig, shared: SharedView, program: WorkerProgram): WorkerGroup {
  const { host, clock, logger, metrics, passthrough } = parts;
  const { limits } = config;
  return new WorkerGroup({
    workers: limits.workers,
    program,
    host: config.bindAddress,
    port: config.securePort,
    // Workers choose which connections wait or are displaced; this bound only stops a flood of their channels.
    connectionsMax: limits.connectionsMax + (limits.workers + 1) * CONNECTIONS_WAITING_MAX,
    config: { ...config, limits: shareOf(limits) },
    view: shared,
    // With passthrough on, the server may be ready with a surface that was not read since.
    localReady: () => host.ready() && !passthrough.state.on,
    passthrough: () => passthrough.state,
    answer: (question) => answer(question, parts),
    metrics,
    emptyMetrics: () => createMetrics().registry,
    clock,
    logger,
  });
}

/** Divides the limits among the workers: a common one would cost messages per request. */
function shareOf(limits: LimitsConfig): LimitsConfig {
  const share = (whole: number): number => Math.ceil(whole / limits.workers);
  return {
    ...limits,
    requestsInFlightMax: share(limits.requestsInFlightMax),
    requestsInFlightPerUserMax: share(limits.requestsInFlightPerUserMax),
    requestsInFlightPerPeerMax: share(limits.requestsInFlightPerPeerMax),
    queuedRequestsMax: share(limits.queuedRequestsMax),
    longRunningRequestsMax: share(limits.longRunningRequestsMax),
    heldMemoryBytesMax: share(limits.heldMemoryBytesMax),
    connectionsMax: share(limits.connectionsMax),
    connectionsPerAddressMax: share(limits.connectionsPerAddressMax),
  };
}

async function answer(question: Exclude<Question, { what: 'metrics' }>, parts: Parts): Promise<unknown> {
  const { local, directory } = parts.view;
  switch (question.what) {
    case 'refresh-local':
      return local.refresh();
    case 'read-local-anew':
      return local.readAnew();
    case 'refresh-peer': {
      const peer = directory.snapshot().peers.find(({ identity }) => identity === question.identity);
      if (peer) await directory.refresh(peer);
      return undefined;
    }
    case 'passthrough': {
      // Bounded again: the worker read it from a client.
      const wanted = readWanted(question.wanted, String(question.wanted?.by));
      if (!wanted) throw new Error('a worker sent no order that the head can read');
      return parts.passthrough.set(wanted);
    }
    case 'page':
      return updateFor(await parts.page.hub.snapshot(), question.known);
    case 'reach':
      return parts.page.reach();
  }
}

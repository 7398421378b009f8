import { formatHostPort } from '../base/address.js';
import { straddleVersion } from '../base/straddle-version.js';
import type { SourcedFlow } from '../proxy/page/flow-log.js';
import { FlowRecorder } from '../proxy/page/flow-recorder.js';
import type { Page } from '../proxy/page/page.js';
import { loadPageAssets } from '../proxy/page/page-assets.js';
import { PageBuilder } from '../proxy/page/page-builder.js';
import { PageHub } from '../proxy/page/page-hub.js';
import { knownSections, type PageSnapshot, updated } from '../proxy/page/page-snapshot.js';
import type { PageState } from '../proxy/page/page-state.js';
import { PageStreams } from '../proxy/page/page-streams.js';
import { type ReachDocument, reachDocument } from '../proxy/page/reach-document.js';
import { ReachReader } from '../proxy/page/reach-reader.js';
import { type FactSources, serverFacts } from '../proxy/page/server-facts.js';
import { TimelineRecorder } from '../proxy/page/timeline-recorder.js';
import type { Worker } from '../proxy/workers/worker.js';
import { expirySeconds } from './health.js';
import type { PageParts } from './server-parts.js';

export interface ObservedPageOptions {
  readonly product: PageState['product'];
  /** What the recorders of the processes with clients hold; default: that of this process. */
  readonly flows?: (options: { readonly withUses: boolean }) => Promise<readonly SourcedFlow[]>;
}

/** Makes the page of a process that observes the servers: by itself, or the head of a group. */
export function observedPage(parts: PageParts, { product, flows }: ObservedPageOptions): Page {
  const { clock, logger, straddleRequests, view } = parts;
  const sources = factSources(parts);
  const recorder = recorderOf(parts);
  const timeline = new TimelineRecorder({ sources, clock });
  const builder = new PageBuilder({
    sources,
    product,
    straddleVersion: straddleVersion(),
    reach: new ReachReader({
      directory: view.directory,
      requests: straddleRequests,
      clock,
      serverName: sources.serverName,
    }),
    timeline,
    flows: flows ?? (async (options) => [[0, recorder.export(options)]]),
  });
  const hub = new PageHub({ build: () => builder.build(), clock, logger });
  const streams = streamsOf(parts, hub);
  return {
    recorder,
    hub,
    streams,
    assets: loadPageAssets(),
    reach: async () => ownReach(sources),
    start: () => timeline.start(),
    drain: () => streams.close(),
    close: () => timeline.close(),
  };
}

/** Makes the page of a worker, which shows the states of its head. */
export function replicatedPage(parts: PageParts, worker: Pick<Worker, 'pageUpdate' | 'reach'>): Page {
  const { clock, logger } = parts;
  let last: PageSnapshot | undefined;
  const build = async (): Promise<PageSnapshot> => {
    last = updated(last, await worker.pageUpdate(knownSections(last)));
    if (!last) throw new Error('the head sent a part of the state only');
    return last;
  };
  const hub = new PageHub({ build, clock, logger });
  const streams = streamsOf(parts, hub);
  return {
    recorder: recorderOf(parts),
    hub,
    streams,
    assets: loadPageAssets(),
    reach: () => worker.reach(),
    start: () => {},
    drain: () => streams.close(),
    close: () => {},
  };
}

function recorderOf({ config, clock, host, view }: PageParts): FlowRecorder {
  return new FlowRecorder({
    serverName: config.serverName,
    clock,
    inFlight: () => inFlight({ config, host, view }),
    isRemembered: (info) => view.directory.snapshot().departedWith(info) !== undefined,
  });
}

/** Returns the requests that each server works on for this process. */
function inFlight({ config, host, view }: Pick<PageParts, 'config' | 'host' | 'view'>): ReadonlyMap<string, number> {
  const counts = new Map([[config.serverName, host.inFlight?.() ?? 0]]);
  for (const { identity, endpoints } of view.directory.describe().peers) {
    counts.set(
      identity,
      endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0),
    );
  }
  return counts;
}

function streamsOf({ clock, metrics }: PageParts, hub: PageHub): PageStreams {
  const streams = new PageStreams({ hub, clock, onLimit: (limit) => metrics.limitHits.labels(limit).inc() });
  metrics.registry.collect(() => metrics.pageStreams.labels().set(streams.size));
  return streams;
}

function factSources({ config, host, view, passthrough, tls, clock, isDraining }: PageParts): FactSources {
  return {
    serverName: config.serverName,
    peeringActive: config.peeringActive,
    hostReady: () => host.ready(),
    local: view.local,
    directory: view.directory,
    passthrough: () => passthrough.state,
    leaseRenewedAtMs: view.leaseRenewedAtMs,
    certificateExpiresAtMs: () => expiresAtMs(tls.servingPair.current.certificates),
    frontProxyExpiresAtMs: () => expiresAtMs(tls.frontProxy?.current.certificates ?? []),
    ownNames: [
      formatHostPort({ host: config.peerAdvertiseIp, port: config.peerAdvertisePort }),
      ...host.furtherAddresses,
    ],
    isDraining,
    nowMs: () => clock.nowMs(),
  };
}

function expiresAtMs([leaf]: readonly Parameters<typeof expirySeconds>[0][]): number | undefined {
  return leaf && expirySeconds(leaf) * 1_000;
}

function ownReach(sources: FactSources): ReachDocument {
  return reachDocument(serverFacts(sources), {
    server: sources.serverName,
    straddleVersion: straddleVersion(),
    peering: sources.peeringActive,
    passthrough: sources.passthrough().on,
    draining: sources.isDraining(),
    leaseRenewedAtMs: sources.leaseRenewedAtMs() ?? null,
    certificateExpiresAtMs: sources.certificateExpiresAtMs() ?? null,
  });
}

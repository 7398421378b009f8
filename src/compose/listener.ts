import { AttemptError } from '../core/host.js';
import { chain, type Exchange, type Handler } from '../http/exchange.js';
import { Listener } from '../http/server/listener.js';
import type { RequestInfo } from '../kube/request-info.js';
import { serves } from '../kube/surface.js';
import { discoveryFilter } from '../proxy/chain/discovery-filter.js';
import { errorsFilter } from '../proxy/chain/errors-filter.js';
import { healthPagesFilter, metricsPageFilter } from '../proxy/chain/health-and-metrics-filter.js';
import { identityFilter } from '../proxy/chain/identity-filter.js';
import { limitsFilter } from '../proxy/chain/limits-filter.js';
import { observeFilter } from '../proxy/chain/observe-filter.js';
import { openApiFilter } from '../proxy/chain/openapi-filter.js';
import { requestInfoFilter } from '../proxy/chain/request-info-filter.js';
import { DocumentFetcher, type SendTo } from '../proxy/discovery/document-fetch.js';
import { LegacyDiscovery } from '../proxy/discovery/legacy-discovery.js';
import { OpenApiV2 } from '../proxy/discovery/merged-openapi-v2.js';
import { OpenApiV3Documents } from '../proxy/discovery/openapi-v3-document.js';
import { OpenApiIndexReader } from '../proxy/discovery/openapi-v3-index.js';
import { permission } from '../proxy/discovery/permission.js';
import { StorageHashReader } from '../proxy/discovery/storage-hashes.js';
import { ViewCache } from '../proxy/discovery/view-cache.js';
import { createAuthenticator } from '../proxy/identity/authenticate.js';
import { CredentialProofs } from '../proxy/identity/credential-proofs.js';
import { OWN_USER } from '../transport/own-requests.js';
import { healthChecks } from './health.js';
import type { Parts } from './parts.js';
import { createSharedLimits } from './shared-limits.js';

const IDLE_CONNECTION_MS = 180_000;

/** What clients connect to. */
export type ClientSide = Pick<Listener, 'listen' | 'close' | 'destroy'>;

export interface Front<Side extends ClientSide = ClientSide> {
  readonly listener: Side;
  /** For requests from within, of identities that this process vouches for itself: merged discovery, then routing. */
  readonly inner: Handler;
}

/** The chain, in running order, outermost first. `metricsPage` is for processes that have it made elsewhere. */
export function createListener(
  parts: Parts,
  state: { draining: boolean },
  metricsPage?: () => Promise<string>,
): Front<Listener> {
  const { config, clock, logger, metrics, tls, backing, localSurface, directory, router } = parts;
  const { limits } = config;
  const views = new ViewCache(
    { self: config.serverName, local: () => localSurface.surface, peers: () => directory.snapshot() },
    {
      cacheHit: () => metrics.discoveryCacheHits.labels().inc(),
      cacheMiss: () => metrics.discoveryCacheMisses.labels().inc(),
    },
  );
  const fetcher = new DocumentFetcher({
    send: sendTo(parts),
    clock,
    logger,
    onFault: (_server, fault) => metrics.documentFaults.labels(fault).inc(),
  });
  const proofs = new CredentialProofs();
  const authorize = permission(clock);
  const discovery = discoveryFilter({
    active: () => config.peeringActive,
    views,
    legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
    authorize,
    clock,
    hooks: { nopeer: () => metrics.discoveryNopeer.labels().inc() },
  });
  const handler = chain(
    [
      observeFilter({ metrics, logger, known: ({ info }) => isKnown(info, parts) }),
      errorsFilter(logger),
      requestInfoFilter,
      identityFilter(
        backing.authenticate(
          createAuthenticator({
            ...config.requestHeader,
            clientCa: () => tls.clientCa(),
            requestHeaderCa: () => tls.requestHeaderCa(),
            proofs,
            clock,
          }),
        ),
      ),
      healthPagesFilter(healthChecks(parts, state)),
      limitsFilter({
        ...createSharedLimits(limits, clock, metrics),
        isPeersOwn,
        judge: (exchange, reply) => proofs.judge(exchange, reply),
      }),
      metricsPageFilter({
        metrics: metricsPage ?? (() => metrics.registry.render()),
        judge: router,
        nowMs: () => clock.nowMs(),
      }),
      discovery,
      openApiFilter({
        active: () => config.peeringActive,
        self: config.serverName,
        views,
        index: new OpenApiIndexReader(fetcher, clock),
        documents: new OpenApiV3Documents(fetcher),
        v2: new OpenApiV2(fetcher, clock),
        authorize,
        clock,
      }),
    ],
    router,
  );
  const listener = new Listener({
    host: config.bindAddress,
    port: config.securePort,
    tls: tls.serving(),
    limits: {
      headerBytesMax: limits.headerBytesMax,
      headersCountMax: limits.headersCountMax,
      headerTimeoutMs: limits.headerTimeoutMs,
      connectionsMax: limits.connectionsMax,
      connectionsPerAddressMax: limits.connectionsPerAddressMax,
      streamsPerConnectionMax: limits.streamsPerConnectionMax,
      idleMs: IDLE_CONNECTION_MS,
      progressMs: limits.clientProgressMs,
    },
    onLimit: (limit) => metrics.limitHits.labels(limit).inc(),
    handler,
    clock,
    logger,
    http2: config.http2Server,
  });
  metrics.registry.collect(() => metrics.connections.labels().set(listener.connectionCount));
  tls.onServingChange(() => listener.replaceTls(tls.serving()));
  return { listener, inner: chain([errorsFilter(logger), discovery], router) };
}

/** Requests that a verified front proxy makes as Straddle's own user. */
function isPeersOwn({ identity, trustedProxy }: Exchange): boolean {
  return trustedProxy && identity.kind === 'established' && identity.user === OWN_USER;
}

/** GETs from one server by its identity, this one included; each answers for itself only. */
function sendTo({ config, own, backing, directory }: Parts): SendTo {
  return async (server, target, headers, onAbort) => {
    if (server === config.serverName) return backing.fetchLocal(target, headers, onAbort);
    const peer = directory.snapshot().peers.find((each) => each.identity === server);
    const endpoint = peer?.endpoints.find((each) => each.usable());
    if (!endpoint) throw new AttemptError('unsent', 'connect', `${server} cannot be reached at the moment`);
    return own.fetchFrom(endpoint.destination)(target, headers, onAbort);
  };
}

/** Some server is known to serve it. What clients make up must not become labels of metrics. */
function isKnown(info: RequestInfo, { localSurface, directory }: Parts): boolean {
  const local = localSurface.surface;
  return (local !== undefined && serves(local, info)) || directory.snapshot().capable(info).length > 0;
}

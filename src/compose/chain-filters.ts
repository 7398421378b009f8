import { AttemptError } from '../http/attempt-error.js';
import type { Authenticate } from '../http/authenticate.js';
import type { Exchange, Filter, Handler } from '../http/exchange.js';
import type { RequestInfo } from '../kube/request-info.js';
import { serves } from '../kube/surface.js';
import { discoveryFilter } from '../proxy/chain/discovery-filter.js';
import { errorsFilter } from '../proxy/chain/errors-filter.js';
import { healthPagesFilter, metricsPageFilter } from '../proxy/chain/health-and-metrics-filter.js';
import { identityFilter } from '../proxy/chain/identity-filter.js';
import { limitsFilter } from '../proxy/chain/limits-filter.js';
import { observeFilter } from '../proxy/chain/observe-filter.js';
import { openApiFilter } from '../proxy/chain/openapi-filter.js';
import { pageFilter } from '../proxy/chain/page-filter.js';
import { passthroughFilter } from '../proxy/chain/passthrough-filter.js';
import { passthroughPageFilter } from '../proxy/chain/passthrough-page-filter.js';
import { requestInfoFilter } from '../proxy/chain/request-info-filter.js';
import { versionFilter } from '../proxy/chain/version-filter.js';
import { DocumentFetcher, type SendTo } from '../proxy/discovery/document-fetch.js';
import { LegacyDiscovery } from '../proxy/discovery/legacy-discovery.js';
import { OpenApiV2 } from '../proxy/discovery/merged-openapi-v2.js';
import { OpenApiV3Documents } from '../proxy/discovery/openapi-v3-document.js';
import { OpenApiIndexReader } from '../proxy/discovery/openapi-v3-index.js';
import { permission } from '../proxy/discovery/permission.js';
import { StorageHashReader } from '../proxy/discovery/storage-hashes.js';
import { ViewCache } from '../proxy/discovery/view-cache.js';
import { createAuthenticator } from '../proxy/identity/authenticate.js';
import type { ConnectionStandings } from '../proxy/identity/connection-standings.js';
import { CredentialProofs } from '../proxy/identity/credential-proofs.js';
import { STRADDLE_USER } from '../proxy/identity/straddle-requests.js';
import { healthChecks } from './health.js';
import type { ChainFilters } from './request-chain.js';
import type { Parts } from './server-parts.js';
import { createSharedLimits } from './shared-limits.js';

export interface FilterChoices {
  /** For processes whose metrics are rendered elsewhere. */
  readonly metricsPage?: (() => Promise<string>) | undefined;
  /** Of a test rig. */
  readonly intercept?: Filter | undefined;
}

/** Makes the filters of a server. */
export function createFilters(
  parts: Parts,
  state: { readonly draining: boolean },
  standings: ConnectionStandings,
  { metricsPage, intercept }: FilterChoices = {},
): ChainFilters {
  const { config, clock, logger, metrics, passthrough, localOnly, page } = parts;
  const judge = judgeOf(parts);
  const proofs = new CredentialProofs();
  return {
    observe: observeFilter({
      metrics,
      logger,
      known: ({ info }) => isKnown(info, parts),
      recorder: page.recorder,
    }),
    errors: errorsFilter(logger),
    requestInfo: requestInfoFilter,
    identity: identityFilter(authenticator(parts, standings, proofs)),
    intercept,
    healthPages: healthPagesFilter(healthChecks(parts, state)),
    limits: limitsFilter({
      ...createSharedLimits(config.limits, clock, metrics),
      usualHead: config.limits,
      isFromPeerStraddle,
      judge: (exchange, reply) => proofs.judge(exchange, reply),
    }),
    metricsPage: metricsPageFilter({
      metrics: metricsPage ?? (() => metrics.registry.render()),
      judge,
      clock,
    }),
    passthroughPage: passthroughPageFilter({
      passthrough,
      serverName: config.serverName,
      file: config.passthroughFile,
      judge,
      clock,
    }),
    page: pageFilter({ ...page, judge, clock }),
    passthrough: passthroughFilter({ passthrough, local: localOnly }),
    ...documentFilters(parts),
  };
}

/**
 * Asks about rights as requests are served. With passthrough on and the local server down, any server may judge: that is
 * when an operator wants to switch it off.
 */
function judgeOf({ passthrough, localOnly, router }: Parts): Handler {
  return async (exchange) => {
    if (!passthrough.state.on) return router(exchange);
    try {
      return await localOnly(exchange);
    } catch (error) {
      if (exchange.aborted) throw error;
      return router(exchange);
    }
  };
}

function authenticator(
  { config, host }: Parts,
  standings: ConnectionStandings,
  proofs: CredentialProofs,
): Authenticate {
  return host.authenticate(createAuthenticator({ ...config.requestHeader, standings, proofs }));
}

/** Makes the filters for documents of all servers, which share views, documents and permissions. */
function documentFilters(parts: Parts): Pick<ChainFilters, 'version' | 'discovery' | 'openApi'> {
  const { config, clock, logger, metrics, view, host } = parts;
  const views = new ViewCache(
    { self: config.serverName, local: () => view.local.surface, peers: () => view.directory.snapshot() },
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
  const authorize = permission(clock);
  const active = () => config.peeringActive;
  return {
    version: versionFilter({
      view: config.versionView,
      active,
      local: () => (host.ready() ? view.local.surface : undefined),
      peers: () => view.directory.snapshot(),
      authorize,
    }),
    discovery: discoveryFilter({
      active,
      views,
      legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
      authorize,
      clock,
      hooks: { nopeer: () => metrics.discoveryNopeer.labels().inc() },
    }),
    openApi: openApiFilter({
      active,
      self: config.serverName,
      views,
      index: new OpenApiIndexReader(fetcher, clock),
      documents: new OpenApiV3Documents(fetcher),
      v2: new OpenApiV2(fetcher, clock),
      authorize,
      clock,
    }),
  };
}

/** Returns whether a verified front proxy sent the request as the user of Straddle. */
function isFromPeerStraddle({ identity, trustedProxy }: Exchange): boolean {
  return trustedProxy && identity.kind === 'established' && identity.user === STRADDLE_USER;
}

/** Sends GET to one server by its identity, this one included; each replies for itself only. */
function sendTo({ config, straddleRequests, host, view }: Parts): SendTo {
  return async (server, target, headers, onAbort) => {
    if (server === config.serverName) return host.fetch(target, headers, onAbort);
    const peer = view.directory.snapshot().peers.find((each) => each.identity === server);
    const endpoint = peer?.endpoints.find((each) => each.usable());
    if (!endpoint) throw new AttemptError('unsent', 'connect', `${server} cannot be reached at the moment`);
    return straddleRequests.fetchFrom(endpoint.destination)(target, headers, onAbort);
  };
}

/** Returns whether a resource is served: invented names must not become metric labels. */
function isKnown(info: RequestInfo, { view }: Parts): boolean {
  const local = view.local.surface;
  return (local !== undefined && serves(local, info)) || view.directory.snapshot().capable(info).length > 0;
}

import { chain, type Filter, type Handler } from '../http/exchange.js';

/** The filters of a server; chain-filters.ts makes them. */
export interface ChainFilters {
  readonly observe: Filter;
  readonly errors: Filter;
  readonly requestInfo: Filter;
  readonly identity: Filter;
  /** Of a test rig; undefined otherwise. */
  readonly intercept: Filter | undefined;
  readonly healthPages: Filter;
  readonly limits: Filter;
  readonly metricsPage: Filter;
  readonly passthroughPage: Filter;
  readonly page: Filter;
  readonly passthrough: Filter;
  readonly version: Filter;
  readonly discovery: Filter;
  readonly openApi: Filter;
}

/** Every request of a client passes these filters, in this order; the router answers those that no filter answered. */
export function requestChain(filters: ChainFilters, router: Handler): Handler {
  return chain(
    [
      // Counts and logs every request, refused ones too.
      filters.observe,
      // Converts every error of the filters below into a Status.
      filters.errors,
      // Reads verb, resource and name from method and path.
      filters.requestInfo,
      // Establishes the caller, or that its credentials are for the host to verify.
      filters.identity,
      // Sees requests of clients as they came, and may answer in place of the server.
      ...(filters.intercept === undefined ? [] : [filters.intercept]),
      // Before the limits: /livez and /readyz are answered under any load.
      filters.healthPages,
      // Bounds requests in flight and held memory, fairly between callers.
      filters.limits,
      // After the limits: the API server is asked whether the caller may read /metrics.
      filters.metricsPage,
      // The same for the panic switch.
      filters.passthroughPage,
      // And for the page that people look at, which must be there with passthrough on.
      filters.page,
      // While the panic switch is on, the local server gets the request, past all that follows.
      filters.passthrough,
      // Answers /version for another server, if --version-view says so.
      filters.version,
      // Answers with the merged documents of all servers.
      filters.discovery,
      filters.openApi,
    ],
    router,
  );
}

/**
 * The chain for requests from inside the process, whose identities are trusted. Passthrough does not concern it: a controller
 * that took the 404 of the local server alone for the truth would delete objects.
 */
export function innerChain({ errors, discovery }: ChainFilters, router: Handler): Handler {
  return chain([errors, discovery], router);
}

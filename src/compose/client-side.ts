import type { Handler } from '../http/exchange.js';
import { Listener } from '../http/server/listener.js';
import { ConnectionStandings } from '../proxy/identity/connection-standings.js';
import { createFilters, type FilterChoices } from './chain-filters.js';
import { innerChain, requestChain } from './request-chain.js';
import type { Parts } from './server-parts.js';
import { largeHeadBytesMax } from './shared-limits.js';

const IDLE_CONNECTION_MS = 180_000;

/** The side that clients connect to. */
export type ClientSide = Pick<Listener, 'listen' | 'close' | 'destroy'>;

export interface Front<Side extends ClientSide = ClientSide> {
  readonly listener: Side;
  /** Answers requests from inside the process. */
  readonly inner: Handler;
}

/** Makes the listener of a server, with the chain behind it. */
export function createListener(
  parts: Parts,
  state: { readonly draining: boolean },
  choices?: FilterChoices,
): Front<Listener> {
  const { config, clock, logger, metrics, tls, router } = parts;
  const standings = new ConnectionStandings({
    allowedNames: config.requestHeader.allowedNames,
    clientCa: () => tls.clientCa(),
    requestHeaderCa: () => tls.requestHeaderCa(),
    clock,
  });
  const filters = createFilters(parts, state, standings, choices);
  const listener = new Listener({
    host: config.bindAddress,
    port: config.securePort,
    tls: tls.serving(),
    limits: {
      ...config.limits,
      largeHeadBytesMax: largeHeadBytesMax(config.limits),
      idleMs: IDLE_CONNECTION_MS,
      progressMs: config.limits.clientProgressMs,
    },
    certificateOwner: (connection) => standings.ownerOf(connection),
    onLimit: (limit) => metrics.limitHits.labels(limit).inc(),
    handler: requestChain(filters, router),
    clock,
    logger,
    http2: config.http2Server,
  });
  metrics.registry.collect(() => metrics.connections.labels().set(listener.connectionCount));
  tls.onServingChange(() => listener.replaceTls(tls.serving()));
  return { listener, inner: innerChain(filters, router) };
}

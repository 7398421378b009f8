import type { Handler } from '../http/exchange.js';
import { Listener } from '../http/server/listener.js';
import { createFilters } from './chain-filters.js';
import { innerChain, requestChain } from './request-chain.js';
import type { Parts } from './server-parts.js';

const IDLE_CONNECTION_MS = 180_000;

/** The side that clients connect to. */
export type ClientSide = Pick<Listener, 'listen' | 'close' | 'destroy'>;

export interface Front<Side extends ClientSide = ClientSide> {
  readonly listener: Side;
  /** Answers requests from inside the process. */
  readonly inner: Handler;
}

/** Makes the listener of a server, with the chain behind it. `metricsPage`: see createFilters. */
export function createListener(
  parts: Parts,
  state: { readonly draining: boolean },
  metricsPage?: () => Promise<string>,
): Front<Listener> {
  const { config, clock, logger, metrics, tls, router } = parts;
  const filters = createFilters(parts, state, metricsPage);
  const listener = new Listener({
    host: config.bindAddress,
    port: config.securePort,
    tls: tls.serving(),
    limits: { ...config.limits, idleMs: IDLE_CONNECTION_MS, progressMs: config.limits.clientProgressMs },
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

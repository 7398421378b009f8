import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import type { FlowRecorder } from '../page/flow-recorder.js';

export interface ObserveOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether some server serves the resource: made-up names must not become metric labels. */
  readonly known: (exchange: Exchange) => boolean;
  /** Keeps the newest requests for the page. */
  readonly recorder?: Pick<FlowRecorder, 'record'>;
}

/** Counts and times every reply; logs rerouted requests at debug level. */
export function observeFilter({ metrics, logger, known, recorder }: ObserveOptions): Filter {
  const count = (exchange: Exchange, reply: Reply) => {
    const { info } = exchange;
    const code = String(reply.status);
    const tookMs = performance.now() - exchange.begunAt;
    const isKnown = info.isResource && known(exchange);
    if (isKnown) {
      metrics.requests.labels(info.verb, info.group, info.version, info.resource, info.subresource, code).inc();
    } else {
      metrics.requests.labels(info.isResource ? 'unknown' : 'nonresource', '', '', '', '', code).inc();
    }
    recorder?.record(exchange, reply.status, tookMs, isKnown);
    if (!info.longRunning) {
      metrics.requestSeconds.labels(info.isResource ? info.verb : 'nonresource').observe(tookMs / 1000);
      metrics.overheadSeconds.labels(routeOf(exchange)).observe((tookMs - exchange.awaitedMs) / 1000);
    }
    if (exchange.routed && exchange.routed.to !== 'local') {
      const { to, why } = exchange.routed;
      logger.debug('rerouted', { target: exchange.target, method: exchange.method, to, why, code: reply.status });
    }
  };
  return {
    name: 'observe',
    wrap: (next) => (exchange) =>
      next(exchange).then((reply) => {
        count(exchange, reply);
        return reply;
      }),
  };
}

function routeOf({ routed }: Exchange): string {
  if (!routed) return 'own';
  return routed.to === 'local' ? 'local' : 'reroute';
}

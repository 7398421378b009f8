import { rawQuery } from '../../base/target.js';
import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import { StatusError } from '../../kube/status-error.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';
import { asksThisServer } from './asks-this-server.js';
import { type CallerRightsOptions, rightToPath } from './caller-rights.js';

/**
 * One condition of health; `check` returns `ok`, the problem, or undefined to be left out of the page. `alone`: of this server without its
 * peers.
 */
export interface HealthCheck {
  readonly name: string;
  check(alone: boolean): string | undefined;
}

export interface HealthPagesOptions {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

/** The API server is asked whether the caller may read /metrics. */
export interface MetricsPageOptions extends CallerRightsOptions {
  readonly metrics: () => string | Promise<string>;
}

/** Serves the health pages to everyone. Placed before the limits, so that load cannot stop them. */
export function healthPagesFilter(options: HealthPagesOptions): Filter {
  return {
    name: 'health-pages',
    wrap: (next) => (exchange) => {
      if (!isPage(exchange)) return next(exchange);
      switch (exchange.info.path) {
        case '/livez':
          return Promise.resolve(healthPage(exchange, options.livez));
        case '/readyz':
        case '/healthz':
          return Promise.resolve(healthPage(exchange, options.readyz));
        default:
          return next(exchange);
      }
    },
  };
}

/** Serves /metrics to authorized callers. Placed after the limits: authorization is a request. */
export function metricsPageFilter(options: MetricsPageOptions): Filter {
  return {
    name: 'metrics-page',
    wrap: (next) => (exchange) =>
      isPage(exchange) && exchange.info.path === '/metrics' ? metricsPage(exchange, options) : next(exchange),
  };
}

function isPage({ info, method }: Exchange): boolean {
  return !info.isResource && (method === 'GET' || method === 'HEAD');
}

function healthPage(exchange: Exchange, checks: readonly HealthCheck[]): Reply {
  const alone = asksThisServer(exchange);
  const results = checks.flatMap(({ name, check }) => {
    const result = check(alone);
    return result === undefined ? [] : [{ name, result }];
  });
  const failed = results.filter(({ result }) => result !== 'ok');
  const lines = results.map(({ name, result }) => (result === 'ok' ? `[+]${name} ok` : `[-]${name} failed: ${result}`));
  const page = exchange.info.path.slice(1);
  const verbose = new URLSearchParams(rawQuery(exchange.target)).has('verbose');
  if (failed.length > 0) return text(exchange, 503, `${[...lines, `${page} check failed`].join('\n')}\n`);
  return text(exchange, 200, verbose ? `${[...lines, `${page} check passed`].join('\n')}\n` : 'ok');
}

async function metricsPage(exchange: Exchange, options: MetricsPageOptions): Promise<Reply> {
  const right = await rightToPath(exchange, { path: '/metrics', verb: 'get' }, options);
  if (right.kind === 'unanswered') {
    const message = `the API server cannot be asked whether this caller may read metrics: ${right.why}`;
    throw new StatusError('ServiceUnavailable', message);
  }
  if (right.kind === 'denied') {
    throw new StatusError(
      'Forbidden',
      `forbidden: reading metrics needs the right to get the non-resource URL /metrics`,
    );
  }
  return text(exchange, 200, await options.metrics(), 'text/plain; version=0.0.4; charset=utf-8');
}

function text(exchange: Exchange, status: number, content: string, contentType = 'text/plain; charset=utf-8'): Reply {
  const bytes = Buffer.from(content);
  const headers = [
    ...['Content-Type', contentType, 'Content-Length', String(bytes.byteLength)],
    ...['Cache-Control', 'no-cache, private', 'X-Content-Type-Options', 'nosniff'],
    ...STRADDLE_MARK,
  ];
  return { status, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

import { rawQuery } from '../../base/target.js';
import { readBody } from '../../http/body-stream.js';
import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { StatusError } from '../../kube/status-error.js';
import { onBehalfOf } from '../discovery/on-behalf-of.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';

/** One condition of health; `check` returns `ok` or the problem. */
export interface HealthCheck {
  readonly name: string;
  check(): string;
}

export interface HealthPagesOptions {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

export interface MetricsPageOptions {
  readonly metrics: () => string | Promise<string>;
  /** Sends API requests as the caller, to ask the API server whether the caller may read /metrics. */
  readonly judge: Handler;
  readonly nowMs: () => number;
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
  const results = checks.map(({ name, check }) => ({ name, result: check() }));
  const failed = results.filter(({ result }) => result !== 'ok');
  const lines = results.map(({ name, result }) => (result === 'ok' ? `[+]${name} ok` : `[-]${name} failed: ${result}`));
  const page = exchange.info.path.slice(1);
  const verbose = new URLSearchParams(rawQuery(exchange.target)).has('verbose');
  if (failed.length > 0) return text(exchange, 503, `${[...lines, `${page} check failed`].join('\n')}\n`);
  return text(exchange, 200, verbose ? `${[...lines, `${page} check passed`].join('\n')}\n` : 'ok');
}

async function metricsPage(exchange: Exchange, options: MetricsPageOptions): Promise<Reply> {
  if (!(await mayGet('/metrics', exchange, options))) {
    throw new StatusError(
      'Forbidden',
      `forbidden: reading metrics needs the right to get the non-resource URL /metrics`,
    );
  }
  return text(exchange, 200, await options.metrics(), 'text/plain; version=0.0.4; charset=utf-8');
}

const REVIEW_BYTES_MAX = 64 * 1024;

/** Asks the API server, as the caller, for the right to a path (SelfSubjectAccessReview). */
async function mayGet(path: string, exchange: Exchange, { judge, nowMs }: MetricsPageOptions): Promise<boolean> {
  const body = Buffer.from(
    JSON.stringify({
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { nonResourceAttributes: { path, verb: 'get' } },
    }),
  );
  const target = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const headers = [
    ...['Content-Type', 'application/json', 'Accept', 'application/json'],
    ...['Content-Length', String(body.byteLength)],
  ];
  const reply = await judge(onBehalfOf(exchange, { method: 'POST', target, headers, body, nowMs: nowMs() }));
  const answer = await readBody(reply.body, REVIEW_BYTES_MAX);
  if (reply.status === 401) throw new StatusError('Unauthorized', 'Unauthorized');
  if (reply.status !== 201) return false;
  const review = JSON.parse(answer.toString()) as { status?: { allowed?: boolean } };
  return review.status?.allowed === true;
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

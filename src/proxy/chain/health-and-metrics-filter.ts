import { readBody } from '../../http/body-stream.js';
import { Exchange, type Filter, type Handler, type Reply } from '../../http/exchange.js';
import { filterHeaders } from '../../http/headers.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';

/** One thing that health depends on; `ok` or what is wrong with it. */
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
  /** Answers API requests in a caller's name, to ask whether the caller may see what is not public. */
  readonly judge: Handler;
  readonly nowMs: () => number;
}

/** Answers the health pages, which everyone may see, and which stand before the limits to be answered under any load. */
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

/** Answers /metrics, which the API server's rules guard. Asking it is a request like others, so it is limited like them. */
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
  const verbose = new URLSearchParams(exchange.target.split('?')[1] ?? '').has('verbose');
  if (failed.length > 0) return text(exchange, 503, `${[...lines, `${page} check failed`].join('\n')}\n`);
  return text(exchange, 200, verbose ? `${[...lines, `${page} check passed`].join('\n')}\n` : 'ok');
}

async function metricsPage(exchange: Exchange, options: MetricsPageOptions): Promise<Reply> {
  if (!(await mayGet('/metrics', exchange, options))) {
    throw new StatusError('Forbidden', `metrics are shown to those who may get the non-resource URL /metrics`);
  }
  return text(exchange, 200, await options.metrics(), 'text/plain; version=0.0.4; charset=utf-8');
}

const REVIEW_BYTES_MAX = 64 * 1024;

/** Asks the API server, in the caller's name, whether the caller may read a non-resource path. */
async function mayGet(path: string, exchange: Exchange, { judge, nowMs }: MetricsPageOptions): Promise<boolean> {
  const body = Buffer.from(
    JSON.stringify({
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { nonResourceAttributes: { path, verb: 'get' } },
    }),
  );
  const kept = filterHeaders(exchange.headers, (name) => name === 'authorization' || name.startsWith('impersonate-'));
  const target = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const question = new Exchange(
    {
      method: 'POST',
      target,
      headers: [
        ...kept,
        ...[
          'Content-Type',
          'application/json',
          'Accept',
          'application/json',
          'Content-Length',
          String(body.byteLength),
        ],
      ],
      body: null,
      connection: exchange.connection,
    },
    nowMs(),
  );
  question.gatheredBody = body;
  question.info = parseRequestInfo('POST', target)!;
  question.identity = exchange.identity;
  const reply = await judge(question);
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

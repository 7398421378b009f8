import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { BodyStream, readBody } from '../../http/body-stream.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { healthPagesFilter, metricsPageFilter } from './health-and-metrics-filter.js';

const reviewed = (allowed: boolean): Reply => ({
  status: 201,
  headers: [],
  body: Buffer.from(JSON.stringify({ status: { allowed } })),
});

function pages(options: { ready?: string; judge?: Handler } = {}) {
  const health = healthPagesFilter({
    livez: [{ name: 'ping', check: () => 'ok' }],
    readyz: [
      { name: 'peers', check: () => 'ok' },
      { name: 'surface', check: () => options.ready ?? 'ok' },
      { name: 'left-out', check: () => undefined },
    ],
  });
  const metrics = metricsPageFilter({
    metrics: () => 'up 1\n',
    judge: options.judge ?? (async () => reviewed(true)),
    clock: new ManualClock(),
  });
  return health.wrap(metrics.wrap(async () => ({ status: 299, headers: [], body: null })));
}

const textOf = async (reply: Reply) => (await readBody(reply.body, 10_000)).toString();

describe('health pages filter', () => {
  it('replies with ok, or with every check for ?verbose', async () => {
    expect(await textOf(await pages()(exchangeFor('/livez')))).toBe('ok');
    expect(await textOf(await pages()(exchangeFor('/readyz?verbose')))).toBe(
      '[+]peers ok\n[+]surface ok\nreadyz check passed\n',
    );
    expect(await textOf(await pages()(exchangeFor('/livez?verbose=1&x')))).toContain('[+]ping ok');
  });

  it('parses the whole query of a health page, also after a second question mark', async () => {
    expect(await textOf(await pages()(exchangeFor('/livez?why=what?&verbose')))).toContain('[+]ping ok');
  });

  it('replies to /readyz with 503 and the failed checks while /livez stays ok', async () => {
    const handler = pages({ ready: 'not read yet' });
    for (const path of ['/readyz', '/healthz']) {
      const reply = await handler(exchangeFor(path));
      expect(reply.status).toBe(503);
      expect(await textOf(reply)).toContain('[-]surface failed: not read yet');
    }
    expect((await handler(exchangeFor('/livez'))).status).toBe(200);
  });

  it('replies for this server alone to a peer, and to who asks like one', async () => {
    const readyz = [{ name: 'api-server', check: (alone: boolean) => (alone ? 'the local one is down' : 'ok') }];
    const handler = healthPagesFilter({ livez: [], readyz }).wrap(async () => ({
      status: 299,
      headers: [],
      body: null,
    }));
    const marked = exchangeFor('/readyz', { headers: ['X-Kubernetes-Peer-Proxied', 'true'] });
    for (const exchange of [marked, Object.assign(exchangeFor('/readyz'), { peerProxied: true })]) {
      const reply = await handler(exchange);
      expect([reply.status, headerValue(reply.headers, 'x-straddle-server')]).toEqual([503, 'true']);
      expect(await textOf(reply)).toContain('[-]api-server failed: the local one is down');
    }
    expect((await handler(exchangeFor('/readyz'))).status).toBe(200);
  });

  it('replies to HEAD without a body, and passes other methods and paths on', async () => {
    expect(await pages()(exchangeFor('/livez', { method: 'HEAD' }))).toMatchObject({ status: 200, body: null });
    expect((await pages()(exchangeFor('/livez', { method: 'POST' }))).status).toBe(299);
    expect((await pages()(exchangeFor('/livez/ping'))).status).toBe(299);
    expect((await pages()(exchangeFor('/api/v1/namespaces/x/pods/metrics'))).status).toBe(299);
  });
});

describe('metrics page filter', () => {
  it('serves metrics to a caller that the API server allows, asked as that caller', async () => {
    let asked: Exchange | undefined;
    const handler = pages({
      judge: async (exchange) => {
        asked = exchange;
        return reviewed(true);
      },
    });
    const credentials = ['Authorization', 'Bearer t', 'Impersonate-User', 'other', 'Cookie', 'c=1'];
    const headers = [...credentials, 'User-Agent', 'browser/1', 'X-Else', 'x'];
    const reply = await handler(exchangeFor('/metrics', { headers, identity: user('jane', 'devs') }));
    expect(await textOf(reply)).toBe('up 1\n');
    expect(headerValue(reply.headers, 'content-type')).toContain('text/plain; version=0.0.4');
    expect(asked).toMatchObject({ method: 'POST', identity: { user: 'jane' } });
    expect(asked!.info).toMatchObject({ resource: 'selfsubjectaccessreviews', verb: 'create' });
    expect(headerValue(asked!.headers, 'authorization')).toBe('Bearer t');
    expect(headerValue(asked!.headers, 'impersonate-user')).toBe('other');
    expect(headerValue(asked!.headers, 'cookie')).toBe('c=1');
    expect(headerValue(asked!.headers, 'user-agent')).toBe('browser/1');
    expect(headerValue(asked!.headers, 'x-else')).toBeUndefined();
    expect(JSON.parse(Buffer.from(asked!.gatheredBody!).toString())).toMatchObject({
      spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
  });

  it.each([
    ['the review denies access', async () => reviewed(false)],
    ['the caller may not create reviews', async () => ({ ...reviewed(true), status: 403 })],
    ['the review has no status', async () => ({ status: 201, headers: [], body: Buffer.from('{}') })],
  ] as [string, Handler][])('replies with 403 where %s', async (_, judge) => {
    await expect(pages({ judge })(exchangeFor('/metrics'))).rejects.toMatchObject({ status: { code: 403 } });
  });

  it.each([
    ['the API server is down', () => Promise.reject(new StatusError('ServiceUnavailable', 'it is down'))],
    ['the API server answers 500', async () => ({ ...reviewed(true), status: 500 })],
  ] as [string, Handler][])('replies with 503 where %s', async (_, judge) => {
    await expect(pages({ judge })(exchangeFor('/metrics'))).rejects.toMatchObject({ status: { code: 503 } });
  });

  it('replies with 401 to an unauthenticated caller, after reading the review to its end', async () => {
    const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
    let ended = false;
    const judge: Handler = async () => {
      setImmediate(() => {
        ended = true;
        body.push(Buffer.from('{}'));
        body.end();
      });
      return { status: 401, headers: [], body };
    };
    await expect(pages({ judge })(exchangeFor('/metrics'))).rejects.toMatchObject({ status: { code: 401 } });
    expect(ended).toBe(true);
  });
});

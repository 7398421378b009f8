import { describe, expect, it } from 'vitest';
import { BodyStream, readBody } from '../../http/body-stream.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
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
    ],
  });
  const metrics = metricsPageFilter({
    metrics: () => 'up 1\n',
    judge: options.judge ?? (async () => reviewed(true)),
    nowMs: () => 0,
  });
  return health.wrap(metrics.wrap(async () => ({ status: 299, headers: [], body: null })));
}

const textOf = async (reply: Reply) => (await readBody(reply.body, 10_000)).toString();

describe('health', () => {
  it('is ok in one word, or in full when asked', async () => {
    expect(await textOf(await pages()(exchangeFor('/livez')))).toBe('ok');
    expect(await textOf(await pages()(exchangeFor('/readyz?verbose')))).toBe(
      '[+]peers ok\n[+]surface ok\nreadyz check passed\n',
    );
    expect(await textOf(await pages()(exchangeFor('/livez?verbose=1&x')))).toContain('[+]ping ok');
  });

  it('says what is wrong with 503, while liveness stays', async () => {
    const handler = pages({ ready: 'not read yet' });
    for (const path of ['/readyz', '/healthz']) {
      const reply = await handler(exchangeFor(path));
      expect(reply.status).toBe(503);
      expect(await textOf(reply)).toContain('[-]surface failed: not read yet');
    }
    expect((await handler(exchangeFor('/livez'))).status).toBe(200);
  });

  it('answers HEAD without a body, and leaves other methods and paths alone', async () => {
    expect(await pages()(exchangeFor('/livez', { method: 'HEAD' }))).toMatchObject({ status: 200, body: null });
    expect((await pages()(exchangeFor('/livez', { method: 'POST' }))).status).toBe(299);
    expect((await pages()(exchangeFor('/livez/ping'))).status).toBe(299);
    expect((await pages()(exchangeFor('/api/v1/namespaces/x/pods/metrics'))).status).toBe(299);
  });
});

describe('metrics', () => {
  it('are shown to those whom the API server lets read them, asked in the caller’s own name', async () => {
    let asked: Exchange | undefined;
    const handler = pages({
      judge: async (exchange) => {
        asked = exchange;
        return reviewed(true);
      },
    });
    const headers = ['Authorization', 'Bearer t', 'Impersonate-User', 'other', 'X-Else', 'x'];
    const reply = await handler(exchangeFor('/metrics', { headers, identity: user('jane', 'devs') }));
    expect(await textOf(reply)).toBe('up 1\n');
    expect(headerValue(reply.headers, 'content-type')).toContain('text/plain; version=0.0.4');
    expect(asked).toMatchObject({ method: 'POST', identity: { user: 'jane' } });
    expect(asked!.info).toMatchObject({ resource: 'selfsubjectaccessreviews', verb: 'create' });
    expect(headerValue(asked!.headers, 'authorization')).toBe('Bearer t');
    expect(headerValue(asked!.headers, 'impersonate-user')).toBe('other');
    expect(headerValue(asked!.headers, 'x-else')).toBeUndefined();
    expect(JSON.parse(Buffer.from(asked!.gatheredBody!).toString())).toMatchObject({
      spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
  });

  it.each([
    ['the answer is no', async () => reviewed(false)],
    ['the caller may not even ask', async () => ({ ...reviewed(true), status: 403 })],
    ['the answer says nothing', async () => ({ status: 201, headers: [], body: Buffer.from('{}') })],
  ] as [string, Handler][])('are withheld where %s', async (_, judge) => {
    await expect(pages({ judge })(exchangeFor('/metrics'))).rejects.toMatchObject({ status: { code: 403 } });
  });

  it('are withheld with 401 from the unknown, and the judge’s answer is read to its end', async () => {
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

import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { readBody } from '../../http/body-stream.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { bearer, exchangeFor, user } from '../discovery/exchange.fixture.js';
import type { Passthrough, PassthroughState, WantedPassthrough } from '../passthrough/passthrough.js';
import { passthroughPageFilter } from './passthrough-page-filter.js';

afterEach(() => vi.useRealTimers());

/** An API server that allows these verbs on the path, and names the caller. */
function apiServer(options: { allowed?: readonly string[]; name?: string; groups?: readonly string[] } = {}) {
  const { allowed = ['get', 'post'], name, groups = [] } = options;
  const asked: Exchange[] = [];
  const judge: Handler = async (exchange) => {
    asked.push(exchange);
    const review = JSON.parse(Buffer.from(exchange.gatheredBody!).toString());
    if (review.kind === 'SelfSubjectAccessReview') {
      const { path, verb } = review.spec.nonResourceAttributes;
      return reviewed({ allowed: path === '/straddle/passthrough' && allowed.includes(verb) });
    }
    return name === undefined ? status(404) : reviewed({ userInfo: { username: name, groups } });
  };
  return { judge, asked };
}

const status = (code: number): Reply => ({ status: code, headers: [], body: Buffer.from('{}') });
const reviewed = (found: object): Reply => ({ ...status(201), body: Buffer.from(JSON.stringify({ status: found })) });

function page(judge: Handler, file: string | null = '/var/lib/straddle/passthrough', set?: Passthrough['set']) {
  const orders: WantedPassthrough[] = [];
  let state: PassthroughState = { on: false, sinceMs: 0, reason: '' };
  const passthrough: Passthrough = {
    get state() {
      return state;
    },
    set:
      set ??
      (async (wanted) => {
        orders.push(wanted);
        state = { on: wanted.on, sinceMs: 1_000, reason: wanted.reason };
        return { state, notKept: undefined };
      }),
    close: async () => {},
  };
  const clock = new ManualClock();
  const filter = passthroughPageFilter({ passthrough, serverName: 'cp1', file: file ?? undefined, judge, clock });
  return { handler: filter.wrap(async () => status(299)), orders, clock };
}

const JSON_TYPE = ['Content-Type', 'application/json'];
const JANE = user('jane', 'system:masters');

function post(body: unknown, options: Parameters<typeof exchangeFor>[1] = { identity: JANE }): Exchange {
  const stream = body instanceof Readable ? body : Readable.from([Buffer.from(JSON.stringify(body))]);
  const headers = [...JSON_TYPE, ...(options?.headers ?? [])];
  return exchangeFor('/straddle/passthrough', { ...options, method: 'POST', body: stream, headers });
}

const json = async ({ body }: Reply) => JSON.parse((await readBody(body, 10_000)).toString());

describe('passthrough page filter', () => {
  it('switches for a caller that may post to the path, asked as that caller', async () => {
    const { judge, asked } = apiServer();
    const { handler, orders } = page(judge);
    const reply = await handler(post({ on: true, reason: 'be\u001bcause\n' }));
    expect(reply.status).toBe(200);
    expect(headerValue(reply.headers, 'x-straddle-server')).toBe('true');
    expect(await json(reply)).toEqual({
      kind: 'StraddlePassthrough',
      server: 'cp1',
      on: true,
      since: '1970-01-01T00:00:01.000Z',
      reason: 'be cause',
      file: '/var/lib/straddle/passthrough',
      notKept: null,
    });
    expect(orders).toEqual([{ on: true, reason: 'be cause', by: 'jane' }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]!.identity).toBe(JANE);
    expect((await json(await handler(exchangeFor('/straddle/passthrough', { identity: JANE })))).on).toBe(true);
    expect((await json(await handler(post({ on: false })))).on).toBe(false);
  });

  it('distinguishes the right to read from the right to switch', async () => {
    const { handler, orders } = page(apiServer({ allowed: ['get'] }).judge);
    expect((await handler(exchangeFor('/straddle/passthrough', { identity: JANE }))).status).toBe(200);
    await expect(handler(post({ on: true }))).rejects.toMatchObject({ status: { code: 403 } });
    await expect(handler(post({ on: true }))).rejects.toThrow(
      'the right to post the non-resource URL /straddle/passthrough',
    );
    const nobody = page(apiServer({ allowed: [] }).judge);
    const asked = nobody.handler(exchangeFor('/straddle/passthrough', { identity: JANE }));
    await expect(asked).rejects.toMatchObject({ status: { code: 403 } });
    expect(orders).toEqual([]);
  });

  it('takes the name of a caller with a token from the API server', async () => {
    const { handler, orders } = page(apiServer({ name: 'system:serviceaccount:kube-system:ops' }).judge);
    expect((await handler(post({ on: true }, { headers: bearer('t') }))).status).toBe(200);
    expect(orders[0]!.by).toBe('system:serviceaccount:kube-system:ops');
  });

  it.each([
    ['without credentials', {}, {}],
    ['with Basic credentials', { headers: ['Authorization', 'Basic dTpw'] }, {}],
    ['with a token that the API server ignores', { headers: bearer('t') }, { name: 'system:anonymous' }],
    [
      'who is in the group of unauthenticated callers',
      { headers: bearer('t') },
      { name: 'x', groups: ['system:unauthenticated'] },
    ],
    ['from a front proxy that says so', { identity: user('system:anonymous', 'system:unauthenticated') }, {}],
    [
      'by impersonation',
      { identity: JANE, headers: ['Impersonate-User', 'system:anonymous'] },
      { name: 'system:anonymous' },
    ],
  ])('refuses an anonymous caller %s with 401, whatever the API server allows', async (_, caller, server) => {
    const { handler, orders } = page(apiServer(server).judge);
    await expect(handler(post({ on: true }, caller))).rejects.toMatchObject({ status: { code: 401 } });
    const reading = exchangeFor('/straddle/passthrough', caller);
    await expect(handler(reading)).rejects.toMatchObject({ status: { code: 401 } });
    expect(orders).toEqual([]);
  });

  it('refuses a caller with a token where the API server does not say who that is', async () => {
    const { handler } = page(apiServer().judge);
    await expect(handler(post({ on: true }, { headers: bearer('t') }))).rejects.toMatchObject({
      status: { code: 403 },
    });
  });

  it.each([
    ['is down', () => Promise.reject(new StatusError('ServiceUnavailable', 'connection refused'))],
    ['is overloaded', async () => status(429)],
    ['fails', async () => status(500)],
  ] as [string, Handler][])('refuses with a message that names the file where the API server %s', async (_, judge) => {
    const refused = page(judge).handler(post({ on: true }));
    await expect(refused).rejects.toMatchObject({ status: { code: 503 } });
    await expect(refused).rejects.toThrow(
      /make the file \/var\/lib\/straddle\/passthrough on this machine to switch it on/,
    );
    await expect(page(judge, null).handler(post({ on: true }))).rejects.toThrow(/has no file to switch with/);
  });

  it('gives an API server that hangs five seconds', async () => {
    const { handler, clock } = page(() => new Promise(() => {}));
    const refused = expect(handler(post({ on: true }))).rejects.toMatchObject({ status: { code: 503 } });
    await settle();
    await clock.advance(5_000);
    await refused;
  });

  it('replies 503 and names the file if it is not known whether the switch happened', async () => {
    const { judge } = apiServer();
    const why = 'timeout: no answer between head and worker within 4000 ms';
    const refused = page(judge, '/f', () => Promise.reject(new Error(why))).handler(post({ on: true }));
    await expect(refused).rejects.toMatchObject({ status: { code: 503 } });
    await expect(refused).rejects.toThrow(`not known whether passthrough was switched (${why}); ask again`);
    await expect(refused).rejects.toThrow('make the file /f on this machine');
  });

  it('reads nothing of a body before the caller is authorized', async () => {
    const body = new PassThrough();
    body.write('{"on":');
    const { handler } = page(apiServer({ allowed: [] }).judge);
    await expect(handler(post(body))).rejects.toMatchObject({ status: { code: 403 } });
    expect(body.readableFlowing).toBe(null);
    expect(body.readableLength).toBe(6);
  });

  it('bounds a body without an end, and one that is announced as large', async () => {
    const { handler, orders } = page(apiServer().judge);
    const endless = new Readable({
      // As from a socket: other work has its turn between two reads.
      read() {
        setImmediate(() => this.push(Buffer.alloc(1_024, 0x20)));
      },
    });
    await expect(handler(post(endless))).rejects.toMatchObject({ status: { code: 413 } });
    endless.destroy();
    const announced = new PassThrough();
    const options = { identity: JANE, headers: ['Content-Length', '4097'] };
    await expect(handler(post(announced, options))).rejects.toMatchObject({ status: { code: 413 } });
    expect(announced.readableFlowing).toBe(null);
    expect(orders).toEqual([]);
  });

  it('bounds the time of a body that does not arrive', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { handler } = page(apiServer().judge);
    const slow = new PassThrough();
    slow.write('{');
    const refused = expect(handler(post(slow))).rejects.toMatchObject({ status: { code: 504 } });
    await settle();
    vi.advanceTimersByTime(5_000);
    await refused;
  });

  it.each([
    ['no JSON', Readable.from(['on'])],
    ['no object', Readable.from(['[true]'])],
    ['no boolean', Readable.from(['{"on":"true"}'])],
    ['a reason that is no text', Readable.from(['{"on":true,"reason":{"a":1}}'])],
    ['an inherited member', Readable.from(['{"__proto__":{"on":true}}'])],
    ['nothing', Readable.from([])],
  ])('refuses a body with %s with 400', async (_, body) => {
    const { handler, orders } = page(apiServer().judge);
    await expect(handler(post(body))).rejects.toMatchObject({ status: { code: 400 } });
    expect(orders).toEqual([]);
  });

  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['multipart/form-data; boundary=x'], ['']])(
    'refuses the media type %j, which a page of another site can make a browser send',
    async (mediaType) => {
      const { handler } = page(apiServer().judge);
      const body = Readable.from(['{"on":true}']);
      const headers = mediaType === '' ? [] : ['Content-Type', mediaType];
      const forged = exchangeFor('/straddle/passthrough', { method: 'POST', identity: JANE, headers, body });
      await expect(handler(forged)).rejects.toMatchObject({ status: { code: 415 } });
    },
  );

  it('leaves other paths, methods and requests of peers alone', async () => {
    const { handler } = page(apiServer().judge);
    const others = [
      exchangeFor('/straddle'),
      exchangeFor('/straddle/passthrough/x', { method: 'POST' }),
      exchangeFor('/straddle/passthrough', { method: 'DELETE', identity: JANE }),
      exchangeFor('/straddle/passthrough', { upgrade: true, identity: JANE }),
      exchangeFor('/api/v1/namespaces/straddle/passthrough', { identity: JANE }),
    ];
    for (const other of others) expect((await handler(other)).status).toBe(299);
    const fromPeer = exchangeFor('/straddle/passthrough', { identity: JANE });
    fromPeer.peerProxied = true;
    expect((await handler(fromPeer)).status).toBe(299);
  });
});

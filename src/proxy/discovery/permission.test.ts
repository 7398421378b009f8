import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream } from '../../http/body-stream.js';
import { type ClientConnection, Exchange, type Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { ANONYMOUS, type Identity } from '../../http/identity.js';
import { chooseMediaType } from '../../kube/accept.js';
import { StatusError } from '../../kube/status-error.js';
import { bearer, exchangeFor, user } from './exchange.fixture.js';
import { openApiMediaType } from './openapi-encoding.js';
import { PERMISSION_LIMITS, permission } from './permission.js';

const OK: Reply = { status: 200, headers: ['Etag', '"one"'], body: Buffer.from('{}') };
const FORBIDDEN: Reply = { status: 403, headers: ['Content-Type', 'application/json'], body: Buffer.from('no') };

function judgeWith(reply: (exchange: Exchange) => Reply | Promise<Reply>) {
  const asked: Exchange[] = [];
  return {
    asked,
    judge: async (exchange: Exchange) => {
      asked.push(exchange);
      return reply(exchange);
    },
  };
}

function on(connection: ClientConnection, caller: { identity: Identity; headers: string[] }): Exchange {
  const { method, target, headers } = exchangeFor('/apis', caller);
  const exchange = new Exchange({ method, target, headers, body: null, connection }, 0);
  exchange.identity = caller.identity;
  return exchange;
}

describe('permission to read discovery and OpenAPI', () => {
  it.each([200, 403])(
    'is a 503 when the body of a %d reply never ends, and is asked for again afterwards',
    async (status) => {
      const clock = new ManualClock();
      const { asked, judge } = judgeWith(() => ({
        status,
        headers: [],
        body: new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} }),
      }));
      const authorize = permission(clock);
      const refused = expect(authorize(exchangeFor('/apis'), judge, '/apis')).rejects.toThrow('did not answer in time');
      await clock.advance(PERMISSION_LIMITS.judgeTimeoutMs);
      await refused;
      expect(asked[0]!.aborted).toBe(true);
      expect(await authorize(exchangeFor('/apis'), judgeWith(() => OK).judge, '/apis')).toBeUndefined();
    },
  );

  it('is asked of the API server as the caller, without other headers of the request', async () => {
    const { asked, judge } = judgeWith(() => OK);
    const headers = [
      ...bearer('t'),
      'Impersonate-User',
      'bob',
      'Accept',
      'x/y',
      'If-None-Match',
      '"z"',
      'Range',
      'bytes=0-1',
    ];
    const alice = user('alice');
    const authorize = permission(new ManualClock());
    expect(
      await authorize(exchangeFor('/apis?timeout=32s', { headers, identity: alice }), judge, '/apis'),
    ).toBeUndefined();
    expect(asked[0]!.target).toBe('/apis');
    expect(asked[0]!.identity).toBe(alice);
    expect(headerValue(asked[0]!.headers, 'authorization')).toBe('Bearer t');
    expect(headerValue(asked[0]!.headers, 'impersonate-user')).toBe('bob');
    expect(headerValue(asked[0]!.headers, 'accept')).toContain('nopeer');
    expect(headerValue(asked[0]!.headers, 'range')).toBeUndefined();
    expect(headerValue(asked[0]!.headers, 'if-none-match')).toBeUndefined();
  });

  it('is cached for a short time when granted, then asked for again with If-None-Match', async () => {
    const clock = new ManualClock();
    const { asked, judge } = judgeWith(() => OK);
    const authorize = permission(clock);
    for (let i = 0; i < 3; i++) await authorize(exchangeFor('/apis'), judge, '/apis');
    expect(asked).toHaveLength(1);
    await clock.advance(PERMISSION_LIMITS.allowedForMs);
    await authorize(exchangeFor('/apis'), judge, '/apis');
    expect(headerValue(asked[1]!.headers, 'if-none-match')).toBe('"one"');
  });

  it('is asked for OpenAPI with an Accept that makes the server build no document', async () => {
    const { asked, judge } = judgeWith(() => ({ status: 406, headers: [], body: null }));
    const authorize = permission(new ManualClock());
    expect(await authorize(exchangeFor('/openapi/v2'), judge, '/openapi/v2')).toBeUndefined();
    const accept = headerValue(asked[0]!.headers, 'accept')!;
    expect(chooseMediaType(accept, ['application/json', openApiMediaType('v2', 'protobuf')])).toBeUndefined();
    expect(headerValue(asked[0]!.headers, 'if-none-match')).toBe('*');
  });

  it('is refused with the unchanged reply of the API server, and is asked for again next time', async () => {
    const { asked, judge } = judgeWith(() => FORBIDDEN);
    const authorize = permission(new ManualClock());
    expect(await authorize(exchangeFor('/apis'), judge, '/apis')).toEqual(FORBIDDEN);
    expect(await authorize(exchangeFor('/apis'), judge, '/apis')).toEqual(FORBIDDEN);
    expect(asked).toHaveLength(2);
  });

  it('is never shared between different callers', async () => {
    const { asked, judge } = judgeWith(() => OK);
    const authorize = permission(new ManualClock());
    const callers = [
      exchangeFor('/apis'),
      exchangeFor('/apis', { headers: bearer('a') }),
      exchangeFor('/apis', { headers: bearer('b') }),
      exchangeFor('/apis', { identity: user('a') }),
      exchangeFor('/apis', { identity: user('a', 'g') }),
      exchangeFor('/apis', { identity: user('a', 'g', 'h') }),
      exchangeFor('/apis', { identity: user('a'), headers: ['Impersonate-User', 'root'] }),
      exchangeFor('/apis', { identity: user('a'), headers: ['Impersonate-User', 'root', 'Impersonate-Group', 'g'] }),
      exchangeFor('/apis', { identity: user('a'), method: 'HEAD' }),
    ];
    for (const caller of callers) await authorize(caller, judge, '/apis');
    await authorize(callers[0]!, judge, '/api');
    expect(asked).toHaveLength(callers.length + 1);
  });

  it('is separate for callers that share the connection of a front proxy', async () => {
    const { asked, judge } = judgeWith(() => OK);
    const authorize = permission(new ManualClock());
    const proxied = { remoteAddress: '127.0.0.1', certificateChain: [] };
    const alice = user('alice');
    const callers: { identity: Identity; headers: string[] }[] = [
      { identity: alice, headers: [] },
      { identity: user('bob'), headers: [] },
      { identity: user('alice', 'g'), headers: [] },
      { identity: alice, headers: ['Impersonate-User', 'root'] },
      { identity: alice, headers: ['impersonate-user', 'root', 'Impersonate-Group', 'g'] },
      { identity: ANONYMOUS, headers: [] },
      { identity: { kind: 'carried', flow: 'f', proven: false }, headers: bearer('a') },
      // Flows are for fairness and may be alike: what is carried tells them apart.
      { identity: { kind: 'carried', flow: 'f', proven: false }, headers: bearer('b') },
      { identity: { kind: 'carried', flow: 'f', proven: false }, headers: ['Cookie', 'b'] },
    ];
    const ask = (caller: (typeof callers)[number]) => authorize(on(proxied, caller), judge, '/apis');
    for (const caller of callers) for (let turn = 0; turn < 2; turn++) await ask(caller);
    expect(asked.map(({ identity }) => identity)).toEqual(callers.map(({ identity }) => identity));
    for (const caller of [...callers].reverse()) await ask(caller);
    expect(asked).toHaveLength(callers.length);
  });

  it('is asked once for concurrent requests of one caller', async () => {
    let release = (_: Reply) => {};
    const { asked, judge } = judgeWith(() => new Promise<Reply>((resolve) => (release = resolve)));
    const authorize = permission(new ManualClock());
    const all = Promise.all([1, 2, 3].map(() => authorize(exchangeFor('/apis'), judge, '/apis')));
    await settle();
    release(FORBIDDEN);
    expect(await all).toEqual([FORBIDDEN, FORBIDDEN, FORBIDDEN]);
    expect(asked).toHaveLength(1);
  });

  it('is granted by a 404, which follows authorization', async () => {
    const { judge } = judgeWith(() => ({ status: 404, headers: [], body: null }));
    expect(await permission(new ManualClock())(exchangeFor('/apis/x'), judge, '/apis/x')).toBeUndefined();
  });

  it('is a 503 if the API server is unreachable or replies 500', async () => {
    const authorize = permission(new ManualClock());
    const down = judgeWith(() => Promise.reject(new AttemptError('unsent', 'connect', 'connection refused')));
    await expect(authorize(exchangeFor('/apis'), down.judge, '/apis')).rejects.toMatchObject({
      status: { code: 503, message: expect.stringContaining('connection refused') },
    });
    const broken = judgeWith(() => ({ status: 500, headers: [], body: Buffer.from('x') }));
    await expect(authorize(exchangeFor('/apis'), broken.judge, '/apis')).rejects.toBeInstanceOf(StatusError);
  });

  it('is a 503 after a timeout if the API server hangs, and cancels its late reply', async () => {
    const clock = new ManualClock();
    let cancelled = false;
    let release = (_: Reply) => {};
    const { asked, judge } = judgeWith(() => new Promise<Reply>((resolve) => (release = resolve)));
    const outcome = permission(clock)(exchangeFor('/apis'), judge, '/apis').catch((error) => error);
    await settle();
    await clock.advance(PERMISSION_LIMITS.judgeTimeoutMs);
    expect(await outcome).toMatchObject({ status: { code: 503 } });
    expect(asked[0]!.aborted).toBe(true);
    const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => (cancelled = true) });
    body.push(Buffer.alloc(9 * 1024 * 1024));
    release({ status: 200, headers: [], body });
    await settle();
    expect(cancelled).toBe(true);
  });

  it('is cached for a bounded number of callers', async () => {
    const { asked, judge } = judgeWith(() => OK);
    const authorize = permission(new ManualClock(), { ...PERMISSION_LIMITS, callersMax: 2 });
    for (const name of ['a', 'b', 'c', 'a'])
      await authorize(exchangeFor('/apis', { identity: user(name) }), judge, '/apis');
    expect(asked).toHaveLength(4);
  });
});

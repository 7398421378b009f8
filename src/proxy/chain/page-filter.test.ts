import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { BodyStream, readBody } from '../../http/body-stream.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { bearer, exchangeFor, user } from '../discovery/exchange.fixture.js';
import { NO_COUNTS } from '../page/flow-seconds.js';
import { pageAsset } from '../page/page-assets.js';
import { type PageSnapshot, SECTION_NAMES } from '../page/page-snapshot.js';
import type { ReachDocument } from '../page/reach-document.js';
import { pageFilter } from './page-filter.js';

const STATE = '/straddle/api/v1/state';
const STREAM = '/straddle/api/v1/stream';
const REACH = '/straddle/api/v1/reach';
const JANE = user('jane');
const STRADDLE = { identity: user('system:straddle'), trustedProxy: true, peerProxied: true };

const SNAPSHOT: PageSnapshot = {
  about: { server: 'cp-1', product: 'sidecar', straddleVersion: '0.1.0', atMs: 0 },
  sections: {
    ...(Object.fromEntries(SECTION_NAMES.map((name) => [name, { number: 1, json: '[]' }])) as PageSnapshot['sections']),
    verdict: { number: 1, json: JSON.stringify({ may: 'yes', sentence: 'all is well', reasons: [] }) },
  },
  flow: { recent: [], seconds: [], totals: NO_COUNTS, left: 0 },
};

interface Settings {
  readonly allowed?: boolean;
  /** As the API server names a caller with a token. */
  readonly name?: string;
  readonly judge?: Handler;
  readonly snapshot?: () => Promise<PageSnapshot>;
  readonly open?: (caller: string) => Promise<BodyStream>;
}

function page({ allowed = true, name = 'token-user', ...more }: Settings = {}) {
  const asked: unknown[] = [];
  const opened: string[] = [];
  let snapshots = 0;
  const judge: Handler = async (exchange) => {
    const review = JSON.parse(Buffer.from(exchange.gatheredBody!).toString());
    asked.push(review.spec?.nonResourceAttributes ?? review.kind);
    const status = review.kind === 'SelfSubjectReview' ? { userInfo: { username: name } } : { allowed };
    return { status: 201, headers: [], body: Buffer.from(JSON.stringify({ status })) };
  };
  const filter = pageFilter({
    judge: more.judge ?? judge,
    clock: new ManualClock(),
    hub: {
      snapshot: () => {
        snapshots += 1;
        return more.snapshot?.() ?? Promise.resolve(SNAPSHOT);
      },
    },
    streams: {
      open: async (caller) => {
        opened.push(caller);
        return more.open?.(caller) ?? new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
      },
    },
    assets: new Map([['app.js', pageAsset('app.js', Buffer.from('run()'))]]),
    reach: async () => ({ kind: 'StraddleReach' }) as ReachDocument,
  });
  const handler = filter.wrap(async () => ({ status: 299, headers: [], body: null }));
  return { handler, asked, opened, snapshots: () => snapshots };
}

function ask(
  path: string,
  more: Partial<Exchange> = { identity: JANE },
  options: Parameters<typeof exchangeFor>[1] = {},
) {
  return Object.assign(exchangeFor(path, options), more);
}

const textOf = async ({ body }: Reply) => (await readBody(body, 100_000)).toString();
const codeOf = (sent: Promise<Reply>) =>
  sent.then(
    ({ status }) => status,
    (error: StatusError) => error.status.code,
  );

describe('page filter', () => {
  it('serves the page to whoever may read metrics, asked as that caller', async () => {
    const { handler, asked } = page();
    const reply = await handler(ask('/straddle/'));
    expect(reply.status).toBe(200);
    expect(await textOf(reply)).toContain('all is well');
    expect(headerValue(reply.headers, 'content-type')).toBe('text/html; charset=utf-8');
    expect(asked).toEqual([{ path: '/metrics', verb: 'get' }]);
  });

  it('serves the state as JSON, the files, and the way to the page', async () => {
    const { handler } = page();
    expect(JSON.parse(await textOf(await handler(ask(STATE))))).toMatchObject({
      kind: 'StraddleState',
      server: 'cp-1',
      verdict: { may: 'yes' },
      flow: { recent: [] },
    });
    const file = await handler(ask('/straddle/assets/app.js'));
    expect([await textOf(file), headerValue(file.headers, 'content-type')]).toEqual([
      'run()',
      'text/javascript; charset=utf-8',
    ]);
    const etag = headerValue(file.headers, 'etag')!;
    const again = await handler(ask('/straddle/assets/app.js', {}, { headers: ['If-None-Match', etag] }));
    expect([again.status, again.body]).toEqual([304, null]);
    expect(headerValue((await handler(ask('/straddle'))).headers, 'location')).toBe('/straddle/');
  });

  it.each(['/straddle/', STATE, STREAM, '/straddle/assets/app.js', '/straddle'])(
    'sets the security fields for %s',
    async (path) => {
      const { headers } = await page().handler(ask(path));
      expect(headerValue(headers, 'content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
      expect(headerValue(headers, 'content-security-policy')).not.toContain('unsafe');
      expect(headerValue(headers, 'x-content-type-options')).toBe('nosniff');
      expect(headerValue(headers, 'referrer-policy')).toBe('no-referrer');
      expect(headerValue(headers, 'cache-control')).toMatch(/^no-(store|cache)$/);
    },
  );

  it('replies to HEAD without a body and opens no stream for it', async () => {
    const { handler, opened } = page();
    for (const path of ['/straddle/', STATE, STREAM, '/straddle/assets/app.js']) {
      const reply = await handler(ask(path, { identity: JANE }, { method: 'HEAD' }));
      expect([reply.status, reply.body]).toEqual([200, null]);
    }
    expect(opened).toEqual([]);
  });

  it.each(['/straddle/', STATE, STREAM, REACH])(
    'refuses %s to anonymous callers with 401, before anything is built',
    async (path) => {
      const { handler, asked, snapshots, opened } = page();
      expect(await codeOf(handler(ask(path, {})))).toBe(401);
      expect(await codeOf(handler(ask(path, {}, { headers: ['Authorization', 'Basic dTpw'] })))).toBe(401);
      expect([asked, snapshots(), opened]).toEqual([[], 0, []]);
      const taken = page({ name: 'system:anonymous' });
      expect(await codeOf(taken.handler(ask(path, {}, { headers: bearer('made-up') })))).toBe(401);
      expect([taken.snapshots(), taken.opened]).toEqual([0, []]);
    },
  );

  it.each(['/straddle/', STATE, STREAM, REACH])('refuses %s to callers without the right with 403', async (path) => {
    const { handler, snapshots } = page({ allowed: false });
    await expect(handler(ask(path))).rejects.toThrow('needs the right to get the non-resource URL /metrics');
    expect([await codeOf(handler(ask(path))), snapshots()]).toEqual([403, 0]);
  });

  it('replies 503 where the API server cannot judge, or the state cannot be had', async () => {
    const down = page({ judge: () => Promise.reject(new StatusError('ServiceUnavailable', 'connection refused')) });
    expect(await codeOf(down.handler(ask('/straddle/')))).toBe(503);
    const silent = page({ snapshot: () => Promise.reject(new Error('the head does not answer')) });
    await expect(silent.handler(ask(STATE))).rejects.toThrow('cannot be had: the head does not answer');
    expect(await codeOf(silent.handler(ask(STATE)))).toBe(503);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s with 405', async (method) => {
    const { handler, asked } = page();
    for (const path of ['/straddle', '/straddle/', STATE, STREAM, '/straddle/assets/app.js']) {
      expect(await codeOf(handler(ask(path, { identity: JANE }, { method })))).toBe(405);
    }
    expect(asked).toEqual([]);
  });

  it('replies 404 for a file that was not built', async () => {
    const { handler } = page();
    for (const file of ['app.css', '../../../etc/passwd', 'app.js/', '__proto__', '']) {
      expect(await codeOf(handler(ask(`/straddle/assets/${file}`)))).toBe(404);
    }
  });

  it('passes on what is not its own', async () => {
    const { handler } = page();
    for (const path of ['/straddle/passthrough', '/straddle/other', '/straddles', '/metrics', '/api/v1/pods']) {
      expect(await codeOf(handler(ask(path)))).toBe(299);
    }
    expect(await codeOf(handler(ask('/straddle/', { identity: JANE }, { upgrade: true })))).toBe(299);
  });

  it('does not answer a request that a peer sent on for a client', async () => {
    const { handler, asked } = page();
    for (const path of ['/straddle/', STATE, STREAM, REACH, '/straddle/assets/app.js']) {
      expect(await codeOf(handler(ask(path, { identity: JANE, peerProxied: true, trustedProxy: true })))).toBe(299);
    }
    expect(asked).toEqual([]);
  });

  it('tells the Straddle of a peer whom this server reaches, without a question to the API server', async () => {
    const { handler, asked } = page({ allowed: false });
    expect(JSON.parse(await textOf(await handler(ask(REACH, STRADDLE))))).toEqual({ kind: 'StraddleReach' });
    expect(asked).toEqual([]);
    expect(await codeOf(handler(ask(STATE, STRADDLE)))).toBe(299);
    expect(await codeOf(handler(ask(REACH, { identity: user('system:straddle') })))).toBe(403);
  });

  it('opens a stream in the name of the caller, and gives up its place in flight', async () => {
    const { handler, opened } = page({ name: 'system:serviceaccount:x:y' });
    const events: string[] = [];
    const holding = { reserve: () => undefined, stream: () => void events.push('stream') };
    const exchange = ask(STREAM, { identity: JANE, holding: holding as unknown as Exchange['holding'] });
    const reply = await handler(exchange);
    expect(headerValue(reply.headers, 'content-type')).toBe('text/event-stream');
    expect(reply.body).toBeInstanceOf(BodyStream);
    expect(events).toEqual(['stream']);
    await handler(ask(STREAM, {}, { headers: bearer('t') }));
    expect(opened).toEqual(['jane', 'system:serviceaccount:x:y']);
  });

  it('passes on the refusal of a stream beyond the bounds', async () => {
    const { handler } = page({ open: () => Promise.reject(new StatusError('TooManyRequests', 'too many')) });
    expect(await codeOf(handler(ask(STREAM)))).toBe(429);
  });

  it('counts the memory of a state before it is sent', async () => {
    const reserved: number[] = [];
    const holding = { reserve: async (bytes: number) => void reserved.push(bytes) } as unknown as Exchange['holding'];
    const { body } = await page().handler(ask(STATE, { identity: JANE, holding }));
    expect(reserved).toEqual([(body as Uint8Array).byteLength]);
  });

  it('encodes a state once for all who read it, so that no caller makes this process allocate before it may', async () => {
    const { handler } = page();
    const refused = { reserve: () => Promise.reject(new StatusError('TooManyRequests', 'no memory')) };
    const holding = refused as unknown as Exchange['holding'];
    const [first, second] = [await handler(ask(STATE)), await handler(ask(STATE))];
    expect(first.body).toBe(second.body);
    expect(await codeOf(handler(ask(STATE, { identity: JANE, holding })))).toBe(429);
  });

  it('refuses scripts of other sites, which a browser would send with the certificate of its user', async () => {
    const { handler, asked } = page();
    const from = (site: string, mode: string, path = STREAM) =>
      codeOf(handler(ask(path, { identity: JANE }, { headers: ['Sec-Fetch-Site', site, 'Sec-Fetch-Mode', mode] })));
    expect(await from('cross-site', 'cors')).toBe(403);
    expect(await from('same-site', 'no-cors')).toBe(403);
    for (const path of [STREAM, STATE, REACH]) expect(await from('cross-site', 'navigate', path)).toBe(403);
    expect(asked).toEqual([]);
    expect(await from('same-origin', 'cors')).toBe(200);
    expect(await from('cross-site', 'navigate', '/straddle/')).toBe(200);
    expect(await from('none', 'navigate', STATE)).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream, readBody } from '../../http/body-stream.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import { exchangeFor } from '../discovery/exchange.fixture.js';
import { UpstreamHost } from './upstream-host.js';

const OK: Reply = { status: 200, headers: [], body: null };

function reply(status: number, contentType: string, body: string, headers: string[] = []): Reply {
  const stream = new BodyStream({ pause() {}, resume() {}, cancel() {} });
  stream.push(Buffer.from(body));
  stream.end();
  const length = ['Content-Type', contentType, 'Content-Length', String(body.length)];
  return { status, headers: [...length, ...headers], body: stream };
}

const text = (status: number, body: string, headers: string[] = []) =>
  reply(status, 'text/plain; charset=utf-8', body, headers);

/** A Status with the fields of a ServiceUnavailable error, as kube-apiserver encodes it. */
function unavailable(message: string, headers: string[] = ['Retry-After', '1'], more: object = {}): Reply {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'ServiceUnavailable',
    ...more,
    code: 503,
  };
  return reply(503, 'application/json', `${JSON.stringify(status)}\n\n`, headers);
}

const SHUTTING_DOWN_MESSAGE = 'apiserver is shutting down';
/** The answers of a kube-apiserver that shuts down: the default, and with --shutdown-send-retry-after. */
const SHUTTING_DOWN = () => unavailable(SHUTTING_DOWN_MESSAGE);
const SHUTTING_DOWN_LATER = () =>
  text(429, 'The apiserver is shutting down, please try again later.\n', ['Retry-After', '5']);

function upstream(answer: (request: OutgoingRequest) => Promise<Reply> = async () => OK) {
  const clock = new ManualClock();
  const state = {
    ready: true as true | string | Error,
    probes: 0,
    /** At the advertised address. */
    outside: true as true | string | Error,
    unreadable: false,
    reads: 0,
    mayServeUnread: false,
    sent: [] as OutgoingRequest[],
    abandoned: 0,
    hasAlternative: false,
  };
  const host = new UpstreamHost({
    destination: {
      address: 'local:6443',
      inFlight: 0,
      send: (request) => {
        state.sent.push(request);
        return answer(request);
      },
      upgrade: (request) => {
        state.sent.push({ ...request, target: `upgrade ${request.target}` });
        return answer(request);
      },
      abandonWaiting: () => void state.abandoned++,
      close: async () => {},
    },
    renew: () => {},
    fetch: async () => OK,
    advertisedAddress: 'local:6443',
    outgoingHeaders: () => ({ headers: ['Host', 'x'], lane: 'front-proxy' }),
    probe: async () => {
      state.probes++;
      if (state.ready instanceof Error) throw state.ready;
      return state.ready;
    },
    asOthersReachIt: {
      probe: async () => {
        if (state.outside instanceof Error) throw state.outside;
        return state.outside;
      },
      close: async () => {},
    },
    beforeReady: async () => {
      state.reads++;
      if (state.unreadable) throw new Error('discovery cannot be read');
    },
    mayServeUnread: () => state.mayServeUnread,
    headTimeoutMs: 60_000,
    hasAlternative: () => state.hasAlternative,
    probeIntervalMs: 500,
    clock,
    logger: silentLogger,
  });
  return { host, clock, state };
}

const ask = (target = '/api/v1/pods', more: Partial<Exchange> = {}) => Object.assign(exchangeFor(target), more);

describe('UpstreamHost.isBehindProcess', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const nobody = new AttemptError('unsent', 'connect', '10.0.0.1:6443: connection refused', refused);

  it('is true after the advertised address has refused a connection while the server is ready', async () => {
    const { host, state } = upstream();
    await host.start();
    expect(await host.isBehindProcess()).toBe(false);
    state.outside = nobody;
    expect(await host.isBehindProcess()).toBe(true);
    state.outside = '/readyz answers 500';
    expect(await host.isBehindProcess()).toBe(false);
  });

  it('stays as it was while the server is down, and after any other failure', async () => {
    const { host, clock, state } = upstream();
    state.outside = nobody;
    expect(await host.isBehindProcess()).toBe(false);
    await host.start();
    state.ready = nobody;
    expect(await host.isBehindProcess()).toBe(false);
    state.ready = true;
    expect(await host.isBehindProcess()).toBe(true);
    state.outside = new AttemptError('maybe', 'timeout', 'timeout');
    expect(await host.isBehindProcess()).toBe(true);
    state.ready = nobody;
    await clock.advance(500);
    state.outside = true;
    expect(await host.isBehindProcess()).toBe(true);
  });
});

describe('UpstreamHost.ready', () => {
  it('is false until a probe succeeds', async () => {
    const { host } = upstream();
    expect(host.ready()).toBe(false);
    await host.start();
    expect(host.ready()).toBe(true);
  });

  it('follows the probes, which are repeated', async () => {
    const { host, clock, state } = upstream();
    await host.start();
    state.ready = new Error('refused');
    await clock.advance(500);
    expect(host.ready()).toBe(false);
    state.ready = 'not yet';
    await clock.advance(500);
    expect(host.ready()).toBe(false);
    state.ready = true;
    await clock.advance(500);
    expect(host.ready()).toBe(true);
  });

  it('stays false until the surface was read', async () => {
    const { host, clock, state } = upstream();
    state.unreadable = true;
    await host.start();
    expect(host.ready()).toBe(false);
    state.unreadable = false;
    await clock.advance(500);
    expect(host.ready()).toBe(true);
  });

  it('is true with a surface that was not read for only as long as that is allowed, and repeats the read', async () => {
    const { host, clock, state } = upstream();
    state.unreadable = true;
    state.mayServeUnread = true;
    await host.start();
    expect(host.ready()).toBe(true);
    await clock.advance(1_000);
    expect(state.reads).toBe(3);
    state.mayServeUnread = false;
    expect(host.ready()).toBe(false);
    await clock.advance(500);
    expect(host.ready()).toBe(false);
    state.unreadable = false;
    await clock.advance(500);
    expect(host.ready()).toBe(true);
    await clock.advance(1_000);
    expect(state.reads).toBe(5);
  });

  it('needs another read of the surface after each failure of the server', async () => {
    const { host, clock, state } = upstream();
    await host.start();
    state.mayServeUnread = true;
    state.ready = new Error('refused');
    await clock.advance(500);
    Object.assign(state, { ready: true, unreadable: true });
    await clock.advance(500);
    expect(host.ready()).toBe(true);
    state.mayServeUnread = false;
    expect(host.ready()).toBe(false);
  });

  it('fails waiting requests of a server that hangs, not of one that stops', async () => {
    const { host, clock, state } = upstream();
    await host.start();
    state.ready = 'shutting down';
    await clock.advance(500);
    expect(state.abandoned).toBe(0);
    state.ready = new AttemptError('maybe', 'timeout', 'no answer');
    await clock.advance(500);
    expect(state.abandoned).toBe(1);
  });

  it('looks again at requests that wait for a server that hangs before each further probe', async () => {
    const { host, clock, state } = upstream();
    await host.start();
    state.ready = new AttemptError('maybe', 'timeout', 'no answer');
    await clock.advance(500);
    const before = state.abandoned;
    state.ready = true;
    await clock.advance(500);
    expect(state.abandoned).toBe(before + 1);
    await clock.advance(500);
    expect(state.abandoned).toBe(before + 1);
  });

  it('lets a request wait for a server that hangs where no other one could take it, but no watch', async () => {
    const { host, state } = upstream();
    await host.start();
    await host.handle(ask());
    const [request] = state.sent;
    expect(request!.hasAlternative!(true)).toBe(false);
    state.hasAlternative = true;
    expect(request!.hasAlternative!(true)).toBe(true);
    const watch = ask('/api/v1/pods?watch=true');
    Object.assign(watch.info, { longRunning: true });
    await host.handle(watch);
    expect(state.sent[1]!.hasAlternative).toBeUndefined();
  });

  it.each(['POST', 'DELETE'])(
    'lets a %s wait at a server that may have got it: no other one may take it',
    async (method) => {
      const { host, state } = upstream();
      await host.start();
      state.hasAlternative = true;
      await host.handle(exchangeFor('/api/v1/pods/x', { method }));
      const [request] = state.sent;
      expect([request!.hasAlternative!(true), request!.hasAlternative!(false)]).toEqual([false, true]);
    },
  );

  it('is false after a request that could not be sent, and a probe follows at once', async () => {
    const { host, state } = upstream(() => Promise.reject(new AttemptError('unsent', 'connect', 'refused')));
    await host.start();
    state.ready = 'not yet';
    await expect(host.handle(ask())).rejects.toMatchObject({ processed: 'unsent' });
    expect(host.ready()).toBe(false);
    await settle();
    expect(state.probes).toBe(2);
    expect(host.ready()).toBe(false);
  });

  it('stays true after a connection reset until the probe that follows', async () => {
    const { host, state } = upstream(() => Promise.reject(new AttemptError('maybe', 'reset', 'reset')));
    await host.start();
    await expect(host.handle(ask())).rejects.toMatchObject({ processed: 'maybe' });
    expect(host.ready()).toBe(true);
    await settle();
    expect(state.probes).toBe(2);
    expect(host.ready()).toBe(true);
  });

  it('stays true after an abort by the client, without a probe', async () => {
    const { host, state } = upstream(() => Promise.reject(new AttemptError('maybe', 'aborted', 'left')));
    await host.start();
    await expect(host.handle(ask())).rejects.toThrow();
    await settle();
    expect(state.probes).toBe(1);
  });

  it('has no further probes after close()', async () => {
    const { host, clock, state } = upstream();
    await host.start();
    await host.close();
    await clock.advance(5_000);
    expect(state.probes).toBe(1);
    expect(clock.pending).toBe(0);
  });
});

describe('UpstreamHost.handle', () => {
  it('sends a request unchanged, with a timeout unless it is long-running', async () => {
    const { host, state } = upstream();
    await host.handle(ask('/api/v1/pods?limit=1'));
    await host.handle(ask('/api/v1/pods?watch=1'));
    expect(state.sent[0]).toMatchObject({ method: 'GET', target: '/api/v1/pods?limit=1', headTimeoutMs: 60_000 });
    expect(state.sent[1]).toMatchObject({ headTimeoutMs: 0 });
  });

  it('sends an upgrade for an upgrade request', async () => {
    const { host, state } = upstream();
    await host.handle(ask('/api/v1/namespaces/x/pods/p/exec', { upgrade: true } as never));
    expect(state.sent[0]!.target).toMatch(/^upgrade/);
  });
});

describe('UpstreamHost with a server that is shutting down', () => {
  it.each([
    ['/api/v1/pods', SHUTTING_DOWN],
    ['/api/v1/pods?watch=1', SHUTTING_DOWN],
    ['/api/v1/nodes', SHUTTING_DOWN_LATER],
  ])('rejects with draining for %s', async (target, answer) => {
    const { host, state } = upstream(async () => answer());
    await host.start();
    state.ready = 'not yet';
    await expect(host.handle(ask(target))).rejects.toMatchObject({ processed: 'unsent', type: 'draining' });
    expect(host.ready()).toBe(false);
  });

  it.each([
    ['a plain-text 503', () => text(503, 'no endpoints available', ['Retry-After', '1'])],
    ['a plain-text 503 with the same words', () => text(503, SHUTTING_DOWN_MESSAGE, ['Retry-After', '1'])],
    ['a Status without Retry-After', () => unavailable(SHUTTING_DOWN_MESSAGE, [])],
    ['a Status with another Retry-After', () => unavailable(SHUTTING_DOWN_MESSAGE, ['Retry-After', '30'])],
    ['a long Status', () => unavailable(`${SHUTTING_DOWN_MESSAGE}${' '.repeat(2_000)}`)],
    [
      'a Status that repeats the path of the request',
      () => unavailable('cannot serve /apis/x.example.io/v1/apiserver is shutting down'),
    ],
    ['a Status with the words and more before', () => unavailable(`webhook denied: ${SHUTTING_DOWN_MESSAGE}`)],
    ['a Status with the words and details', () => unavailable(SHUTTING_DOWN_MESSAGE, undefined, { details: {} })],
    [
      'a plain-text 429 that repeats the path of the request',
      () => text(429, '/The apiserver is shutting down, please try again later.\n', ['Retry-After', '5']),
    ],
    [
      'the refusal of an aggregated API server, carried by a kube-apiserver that took the request',
      () => unavailable(SHUTTING_DOWN_MESSAGE, ['Retry-After', '1', 'X-Kubernetes-Pf-Flowschema-Uid', 'u']),
    ],
  ])('passes on %s as an answer', async (_, answer) => {
    const { host } = upstream(async () => answer());
    await host.start();
    const passedOn = await host.handle(ask('/apis/x.example.io/v1/apiserver%20is%20shutting%20down'));
    expect(await readBody(passedOn.body, 10_000)).toEqual(await readBody(answer().body, 10_000));
    expect(host.ready()).toBe(true);
  });

  it('passes on the same reply from a web server inside a pod as an answer', async () => {
    const { host } = upstream(async () => SHUTTING_DOWN());
    await host.start();
    expect((await host.handle(ask('/api/v1/namespaces/x/pods/p/proxy/'))).status).toBe(503);
    expect(host.ready()).toBe(true);
  });
});

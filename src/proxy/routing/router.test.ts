import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { StatusError } from '../../kube/status-error.js';
import { answer, ask, endpoint, peer, routing, surfaceOf, tableOf, UNKNOWN } from './routing.fixture.js';

const OLD = surfaceOf({ '/v1/pods': 'get list create' });
const NEW = surfaceOf({ '/v1/pods': 'get list create', 'batch/v2/jobs': 'get list create' });
const PODS = '/api/v1/namespaces/x/pods';
const JOBS = '/apis/batch/v2/jobs';
const NOBODY = tableOf([]);
const withNew = tableOf([peer('b', NEW)]);

const code = (handled: Promise<Reply>) =>
  handled.then(
    ({ status }) => status,
    (error: StatusError) => error.status.code,
  );

const unsent = () => Promise.reject(new AttemptError('unsent', 'connect', 'refused'));
const maybe = () => Promise.reject(new AttemptError('maybe', 'reset', 'reset'));

describe('router', () => {
  it('serves a resource of the local surface locally and records that', async () => {
    const exchange = ask('GET', PODS);
    const { handler } = routing({ table: withNew, local: OLD });
    expect(await code(handler(exchange))).toBe(200);
    expect(exchange.routed).toEqual({ to: 'local', why: 'served here' });
  });

  it('reroutes a resource that only a peer serves and counts the prevented 404', async () => {
    const exchange = ask('GET', JOBS);
    const { handler, count } = routing({ table: withNew, local: OLD, dispatch: async () => answer(206) });
    expect(await code(handler(exchange))).toBe(206);
    expect(exchange.routed).toMatchObject({ to: 'b' });
    expect(count('straddle_wrong_404_prevented_total{how="rerouted"} 1')).toBe(true);
  });

  it.each([401, 403, 404])('counts no prevented 404 where the peer rightly answers %i', async (status) => {
    const { handler, count } = routing({ table: withNew, local: OLD, dispatch: async () => answer(status) });
    expect(await code(handler(ask('GET', `${JOBS}/gone`)))).toBe(status);
    expect(
      count(`apiserver_rerouted_request_total{code="${status}",group="batch",version="v2",resource="jobs"} 1`),
    ).toBe(true);
    expect(count('straddle_wrong_404_prevented_total{how="rerouted"}')).toBe(false);
  });

  it('counts no prevented 404 where the local server answers after all', async () => {
    let local = OLD;
    const { handler, count } = routing({
      table: tableOf([peer('b', NEW)]),
      local: () => local,
      host: { handle: async () => answer(202) },
      dispatch: () => {
        local = NEW;
        return maybe();
      },
    });
    expect(await code(handler(ask('GET', JOBS)))).toBe(202);
    expect(count('straddle_wrong_404_prevented_total{how="rerouted"}')).toBe(false);
  });

  it('answers 503 instead of a 404 that could be wrong', async () => {
    const { handler, count } = routing({
      table: tableOf([], { gone: NEW }),
      local: OLD,
      host: { handle: async () => answer(404) },
    });
    expect(await code(handler(ask('GET', JOBS)))).toBe(503);
    expect(count('straddle_wrong_404_prevented_total{how="held-back"} 1')).toBe(true);
  });

  it('passes on the 404 of the local server if no server serves the resource', async () => {
    const { handler } = routing({ table: withNew, local: OLD, host: { handle: async () => UNKNOWN } });
    expect(await handler(ask('GET', '/apis/x/v1/ys'))).toBe(UNKNOWN);
  });
});

describe('router with a local server that does not know a resource of its surface', () => {
  it('routes the request again if the surface has changed', async () => {
    let local = NEW;
    const exchange = ask('GET', JOBS);
    const { handler } = routing({
      table: withNew,
      local: () => local,
      onRefreshLocal: () => {
        local = OLD;
      },
      host: { handle: async () => UNKNOWN },
      dispatch: async () => answer(206),
    });
    expect(await code(handler(exchange))).toBe(206);
    expect(exchange.routed).toMatchObject({ to: 'b' });
  });

  it('passes on the 404 if the surface is unchanged', async () => {
    const { handler } = routing({ table: withNew, local: NEW, host: { handle: async () => UNKNOWN } });
    expect(await handler(ask('GET', JOBS))).toBe(UNKNOWN);
  });
});

describe('router with a local server that comes back while a peer is tried', () => {
  const routedWith = (reply: Reply) => {
    let ready = false;
    const dispatch = () => {
      ready = true;
      return maybe();
    };
    return routing({
      table: tableOf([peer('b', NEW)]),
      local: OLD,
      host: { ready: () => ready, handle: async () => reply },
      dispatch,
    });
  };

  it('uses the local server if the peer fails', async () => {
    const exchange = ask('GET', PODS);
    expect(await code(routedWith(answer(202)).handler(exchange))).toBe(202);
    expect(exchange.routed).toMatchObject({ to: 'local' });
  });

  it('does not use it for a resource that it does not serve, and answers 503', async () => {
    expect(await code(routedWith(answer(202)).handler(ask('GET', JOBS)))).toBe(503);
    expect(await code(routedWith(UNKNOWN).handler(ask('GET', PODS)))).toBe(503);
  });
});

describe('router with a request that a peer rerouted here', () => {
  const carried = (method: string, target: string): Exchange =>
    Object.assign(ask(method, target), { peerProxied: true });

  it('serves it locally and never reroutes it', async () => {
    let dispatched = 0;
    const dispatch = async () => {
      dispatched++;
      return answer();
    };
    const { handler } = routing({ table: withNew, local: OLD, dispatch, host: { handle: async () => answer(202) } });
    expect(await code(handler(carried('GET', JOBS)))).toBe(202);
    const dead = routing({ table: withNew, local: OLD, dispatch, host: { handle: unsent } });
    expect(await code(dead.handler(carried('GET', PODS)))).toBe(503);
    const down = routing({ table: withNew, local: OLD, dispatch, host: { ready: () => false } });
    expect(await code(down.handler(carried('GET', PODS)))).toBe(503);
    expect(dispatched).toBe(0);
  });

  it('answers 503 instead of 404 for an unknown resource', async () => {
    const { handler } = routing({ table: NOBODY, local: OLD, host: { handle: async () => UNKNOWN } });
    expect(await code(handler(carried('GET', JOBS)))).toBe(503);
    expect(await code(handler(carried('GET', '/nothing')))).toBe(404);
  });

  it('passes on the 404 of a missing object', async () => {
    const { handler } = routing({ table: NOBODY, local: OLD, host: { handle: async () => answer(404) } });
    expect(await code(handler(carried('GET', `${PODS}/p`)))).toBe(404);
  });
});

describe('router with a request for the local view', () => {
  it('never reroutes it, in any state of the local server', async () => {
    const exchange = Object.assign(ask('GET', '/apis'), { localOnly: true });
    const { handler } = routing({ table: withNew, host: { ready: () => false } });
    expect(await code(handler(exchange))).toBe(503);
    const up = routing({ table: withNew, host: { handle: async () => UNKNOWN } });
    expect(await up.handler(exchange)).toBe(UNKNOWN);
  });
});

describe('router with a local server that fails', () => {
  it.each(['GET', 'POST'])('sends an unsent %s to a peer', async (method) => {
    const { handler, count } = routing({
      table: withNew,
      local: OLD,
      host: { handle: unsent },
      dispatch: async () => answer(207),
    });
    expect(await code(handler(ask(method, PODS)))).toBe(207);
    expect(count('straddle_failovers_total{from="local",type="connect"} 1')).toBe(true);
  });

  it('sends only a safe method to a peer if the request may have been processed', async () => {
    const { handler } = routing({
      table: withNew,
      local: OLD,
      host: { handle: maybe },
      dispatch: async () => answer(207),
    });
    expect(await code(handler(ask('GET', PODS)))).toBe(207);
    expect(await code(handler(ask('POST', PODS)))).toBe(503);
  });

  it('tries the local server once more without peers, while it is ready', async () => {
    const attempts: string[] = [];
    const handle = async (exchange: Exchange) => {
      attempts.push(exchange.method);
      return attempts.length === 1 ? maybe() : answer(200);
    };
    const { handler } = routing({ table: NOBODY, local: OLD, host: { handle } });
    const exchange = ask('GET', PODS);
    expect(await code(handler(exchange))).toBe(200);
    expect(attempts).toHaveLength(2);
    expect(exchange.routed).toMatchObject({ to: 'local' });
  });

  it('routes again if the second attempt has an unknown resource in a streamed Status', async () => {
    let local = NEW;
    let table = NOBODY;
    let attempts = 0;
    const message = Buffer.from('{"message":"the server could not find the requested resource"}');
    const unknownStatus = (): Reply => {
      const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
      body.push(message);
      body.end();
      const headers = ['Content-Type', 'application/json', 'Content-Length', String(message.byteLength)];
      return { status: 404, headers, body };
    };
    const { handler } = routing({
      table: () => table,
      local: () => local,
      onRefreshLocal: () => {
        local = OLD;
        table = withNew;
      },
      host: { handle: async () => (attempts++ === 0 ? maybe() : unknownStatus()) },
      dispatch: async () => answer(206),
    });
    expect(await code(handler(ask('GET', JOBS)))).toBe(206);
    expect(attempts).toBe(2);
  });

  it('tries the local server once more if the only capable peer fails too', async () => {
    let attempts = 0;
    const { handler } = routing({
      table: tableOf([peer('b', NEW)]),
      local: OLD,
      host: { handle: async () => (attempts++ === 0 ? maybe() : answer(200)) },
      dispatch: () => maybe(),
    });
    const exchange = ask('GET', PODS);
    expect(await code(handler(exchange))).toBe(200);
    expect(exchange.routed).toMatchObject({ to: 'local' });
  });

  it('tries the local server once more if the only capable peer cools down', async () => {
    let attempts = 0;
    const { handler } = routing({
      table: tableOf([peer('b', NEW, endpoint('b:6443', { usable: false }))]),
      local: OLD,
      host: { handle: async () => (attempts++ === 0 ? maybe() : answer(200)) },
    });
    expect(await code(handler(ask('GET', PODS)))).toBe(200);
  });

  it('probes a capable peer in cool-down if the local server is down then', async () => {
    const resting = endpoint('b:6443', { usable: false });
    let ready = true;
    const { handler, refreshed } = routing({
      table: tableOf([peer('b', NEW, resting)]),
      local: OLD,
      host: {
        ready: () => ready,
        handle: () => {
          ready = false;
          return unsent();
        },
      },
      dispatch: async () => answer(207),
      onRefreshPeer: () => {
        resting.usableNow = true;
      },
    });
    expect(await code(handler(ask('GET', PODS)))).toBe(207);
    expect(refreshed).toEqual(['b']);
  });

  it('does not try the local server again for a write that a peer may have processed', async () => {
    let attempts = 0;
    const handle = () => {
      attempts++;
      return unsent();
    };
    const { handler } = routing({
      table: tableOf([peer('b', NEW)]),
      local: OLD,
      host: { handle },
      dispatch: () => maybe(),
    });
    expect(await code(handler(ask('POST', PODS)))).toBe(503);
    expect(attempts).toBe(1);
  });

  it('sends an unsent request to the next peer if the first does not serve the resource', async () => {
    const { handler } = routing({
      table: tableOf([peer('b', NEW), peer('c', NEW)]),
      local: OLD,
      host: { handle: unsent, ready: () => false },
      dispatch: async ({ peer: { identity } }) => (identity === 'c' ? answer(207) : UNKNOWN),
    });
    const ready = routing({
      table: tableOf([peer('b', NEW), peer('c', NEW)]),
      local: OLD,
      host: { handle: unsent },
      dispatch: async ({ peer: { identity } }) => (identity === 'c' ? answer(207) : UNKNOWN),
    });
    expect(await code(handler(ask('GET', PODS)))).toBe(207);
    expect(await code(ready.handler(ask('GET', PODS)))).toBe(207);
  });

  it('answers 503 with the error without peers and with the local server down', async () => {
    let ready = true;
    const handle = () => {
      ready = false;
      return unsent();
    };
    const { handler } = routing({ table: NOBODY, local: OLD, host: { handle, ready: () => ready } });
    await expect(handler(ask('GET', PODS))).rejects.toThrow(/pods.*refused/);
    await expect(handler(ask('GET', PODS))).rejects.toMatchObject({ status: { code: 503 }, retryAfterSeconds: 1 });
  });

  it('sends a non-resource request to any peer', async () => {
    const { handler } = routing({
      table: withNew,
      local: OLD,
      host: { ready: () => false },
      dispatch: async () => answer(207),
    });
    expect(await code(handler(ask('GET', '/version')))).toBe(207);
  });
});

import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { status } from '../../kube/status.js';
import { StatusError } from '../../kube/status-error.js';
import type { Dispatch } from './reroute.js';
import { answer, ask, endpoint, peer, routing, surfaceOf, tableOf } from './routing.fixture.js';

const PODS = '/api/v1/pods?fieldSelector=spec.new%3Dx';
const SERVED = { '/v1/pods': 'get list watch deletecollection', 'batch/v2/jobs': 'get list watch' };
const OLD = surfaceOf({ '/v1/pods': SERVED['/v1/pods'] }, 'v1.36.4');
const NEW = surfaceOf(SERVED, 'v1.37.1');
const withNew = () => tableOf([peer('b', NEW)]);

const bad = (message: string): Reply => ({
  status: 400,
  headers: ['Content-Type', 'application/json'],
  body: Buffer.from(JSON.stringify(status('BadRequest', message))),
});
const REFUSED = bad('field label not supported: spec.new');

/** A router whose local server refuses; counts the requests of each server. */
function refusing(options: Partial<Parameters<typeof routing>[0]> = {}) {
  const asked: string[] = [];
  const dispatch: Dispatch = options.dispatch ?? (async () => answer(206));
  const made = routing({
    table: withNew(),
    local: OLD,
    ...options,
    host: {
      handle: async () => {
        asked.push('local');
        return REFUSED;
      },
      ...options.host,
    },
    dispatch: (candidate, exchange) => {
      asked.push(candidate.peer.identity);
      return dispatch(candidate, exchange);
    },
  });
  return { ...made, asked };
}

describe('router with a read that the local server refuses for an option it does not know', () => {
  it.each(['', '&watch=1'])('returns the answer of a newer peer to %s', async (more) => {
    const exchange = ask('GET', `${PODS}${more}`);
    const { handler, asked, count } = refusing();
    expect((await handler(exchange)).status).toBe(206);
    expect(asked).toEqual(['local', 'b']);
    expect(exchange.routed).toEqual({ to: 'b', why: 'a newer server may know the option' });
    expect(count('straddle_unknown_options_total{outcome="answered"} 1')).toBe(true);
    expect(count('apiserver_rerouted_request_total{code="206",group="",version="v1",resource="pods"} 1')).toBe(true);
  });

  it('passes on the refusal of the local server if the newer peer refuses too, after one more request', async () => {
    const exchange = ask('GET', PODS);
    const { handler, asked, count } = refusing({ dispatch: async () => bad('field label not supported: spec.new') });
    expect(await handler(exchange)).toBe(REFUSED);
    expect(asked).toEqual(['local', 'b']);
    expect(exchange.routed).toEqual({ to: 'local', why: 'served here' });
    expect(count('straddle_unknown_options_total{outcome="refused"} 1')).toBe(true);
  });

  it('returns any other answer of the peer, such as 403', async () => {
    expect((await refusing({ dispatch: async () => answer(403) }).handler(ask('GET', PODS))).status).toBe(403);
  });

  it.each([
    ['cannot be reached', () => Promise.reject(new AttemptError('unsent', 'connect', 'refused'))],
    ['is busy', () => Promise.reject(new StatusError('TooManyRequests', 'busy'))],
    ['no longer serves the resource', async () => answer(404, 'text/plain; charset=utf-8')],
  ])('passes on the refusal if the peer %s', async (_, dispatch) => {
    const exchange = ask('GET', PODS);
    const { handler, count } = refusing({ dispatch });
    expect(await handler(exchange)).toBe(REFUSED);
    expect(exchange.routed).toMatchObject({ to: 'local' });
    expect(count('straddle_unknown_options_total{outcome="unavailable"} 1')).toBe(true);
  });

  it('tries another newer peer after a failure, and never one of the same version', async () => {
    const peers = [peer('b', OLD), peer('c', NEW), peer('d', NEW)];
    const { handler, asked } = refusing({
      table: tableOf(peers),
      attemptsMax: 9,
      dispatch: () => Promise.reject(new AttemptError('unsent', 'connect', 'refused')),
    });
    expect(await handler(ask('GET', PODS))).toBe(REFUSED);
    expect(asked.sort()).toEqual(['c', 'd', 'local']);
  });

  it.each([
    ['the peer has the same version', { table: tableOf([peer('b', OLD)]) }],
    ['the version of the local server is unknown', { local: surfaceOf(SERVED) }],
    ['the newer peer takes no requests', { table: tableOf([peer('b', NEW, endpoint('b:1', { usable: false }))]) }],
    ['the newer peer does not serve the resource', { table: tableOf([peer('b', surfaceOf({}, 'v1.37.1'))]) }],
    ['the flag is off', { rerouteUnknownOptions: false }],
  ])('sends no request if %s', async (_, options) => {
    const { handler, asked } = refusing(options);
    expect(await handler(ask('GET', PODS))).toBe(REFUSED);
    expect(asked).toEqual(['local']);
  });

  it.each([
    ['a selector of bad syntax', ask('GET', PODS), bad(`invalid selector: 'a'; can't understand 'a'`)],
    ['a write', ask('DELETE', PODS), REFUSED],
    ['an upgrade', ask('GET', PODS, null, true), REFUSED],
    ['another code', ask('GET', PODS), answer(403)],
  ])('sends no request for %s', async (_, exchange, reply) => {
    const { handler, asked } = refusing({ host: { handle: async () => reply } });
    expect(await handler(exchange)).toBe(reply);
    expect(asked).toEqual([]);
  });

  it('sends no request for one that a peer rerouted here, or for the local view', async () => {
    const { handler, asked } = refusing();
    const carried = (flag: Partial<Exchange>) => Object.assign(ask('GET', PODS), flag);
    expect((await handler(carried({ peerProxied: true }))).status).toBe(400);
    expect((await handler(carried({ localOnly: true }))).status).toBe(400);
    expect(asked).toEqual(['local', 'local']);
  });
});

describe('router with a read that a peer refuses for an option it does not know', () => {
  const JOBS = '/apis/batch/v2/jobs?fieldSelector=spec.new%3Dx';
  const older = surfaceOf(SERVED, 'v1.36.9');

  it('asks a peer that is newer than that one', async () => {
    const { handler, asked } = refusing({
      table: tableOf([peer('b', older), peer('c', NEW, endpoint('c:1', { inFlight: 9 }))]),
      dispatch: async ({ peer: { identity } }) => (identity === 'b' ? REFUSED : answer(206)),
    });
    expect((await handler(ask('GET', JOBS))).status).toBe(206);
    expect(asked).toEqual(['b', 'c']);
  });

  it('passes on the refusal of the newest peer without a further request', async () => {
    const { handler, asked } = refusing({ dispatch: async () => REFUSED });
    expect(await handler(ask('GET', JOBS))).toBe(REFUSED);
    expect(asked).toEqual(['b']);
  });
});

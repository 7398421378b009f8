import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange } from '../../http/exchange.js';
import { status as statusOf } from '../../kube/status.js';
import { answer, ask, peer, routing, surfaceOf, tableOf } from './routing.fixture.js';

const OLD = surfaceOf({ '/v1/pods': 'get list' });
const NEW = surfaceOf({ '/v1/pods': 'get list', 'batch/v2/jobs': 'get list' });
const PODS = '/api/v1/namespaces/x/pods';
const JOBS = '/apis/batch/v2/jobs';

const outcome = ({ heldBack, prevented404, failovers }: Exchange) => ({ heldBack, prevented404, failovers });
const NOTHING = { heldBack: undefined, prevented404: false, failovers: 0 };
const unsent = () => Promise.reject(new AttemptError('unsent', 'connect', 'refused'));

describe('what the router records on an exchange', () => {
  it('is nothing for a request that the local server answers', async () => {
    const exchange = ask('GET', PODS);
    await routing({ table: tableOf([peer('b', NEW)]), local: OLD }).handler(exchange);
    expect(outcome(exchange)).toEqual(NOTHING);
  });

  it('is a prevented 404 for a rerouted request', async () => {
    const exchange = ask('GET', JOBS);
    await routing({ table: tableOf([peer('b', NEW)]), local: OLD }).handler(exchange);
    expect(outcome(exchange)).toEqual({ ...NOTHING, prevented404: true });
  });

  it('is the reason and a prevented 404 for a request that is held back', async () => {
    const exchange = ask('GET', JOBS);
    const { handler } = routing({ table: tableOf([], { gone: NEW }), local: OLD });
    await expect(handler(exchange)).rejects.toThrow('gone');
    expect(outcome(exchange)).toEqual({
      heldBack: 'gone, which served it, has gone away',
      prevented404: true,
      failovers: 0,
    });
  });

  it('is held back, but no prevented 404, while a peer is unread: the client may have made up the resource', async () => {
    const exchange = ask('GET', '/apis/made/v1/up');
    const { handler, count } = routing({ table: tableOf([peer('b', undefined)]), local: OLD });
    await expect(handler(exchange)).rejects.toThrow('not known yet');
    expect(outcome(exchange)).toEqual({
      heldBack: 'what b serves is not known yet',
      prevented404: false,
      failovers: 0,
    });
    expect(count('straddle_wrong_404_prevented_total{how="held-back"} 1')).toBe(true);
  });

  it.each([401, 403, 404, 429, 500, 503])('is no prevented 404 where a peer answers %i', async (status) => {
    const exchange = ask('GET', JOBS);
    const dispatch = () => Promise.resolve(answer(status));
    const { handler, count } = routing({ table: tableOf([peer('b', NEW)]), local: OLD, dispatch });
    expect((await handler(exchange)).status).toBe(status);
    expect(exchange.prevented404).toBe(false);
    expect(count('straddle_wrong_404_prevented_total{how="rerouted"} 1')).toBe(false);
  });

  it('is nothing where a newer server could not be asked and the refusal of the local one is passed on', async () => {
    const exchange = ask('GET', `${PODS}?fieldSelector=spec.new%3Dx`);
    const message = JSON.stringify(statusOf('BadRequest', 'field label not supported: spec.new'));
    const refusal = { status: 400, headers: ['Content-Type', 'application/json'], body: Buffer.from(message) };
    const served = { '/v1/pods': 'get list' };
    const { handler } = routing({
      table: tableOf([peer('b', surfaceOf(served, 'v1.37.1'))]),
      local: surfaceOf(served, 'v1.36.4'),
      host: { handle: async () => refusal },
      dispatch: unsent,
    });
    expect(await handler(exchange)).toBe(refusal);
    expect(exchange).toMatchObject({ heldBack: undefined, routed: { to: 'local' } });
  });

  it('is no prevented 404 while the local server is down: it would not have answered', async () => {
    const rerouted = ask('GET', JOBS);
    const down = { ready: () => false };
    await routing({ table: tableOf([peer('b', NEW)]), local: OLD, host: down }).handler(rerouted);
    expect(outcome(rerouted)).toEqual(NOTHING);
    const held = ask('GET', JOBS);
    await expect(routing({ table: tableOf([]), local: OLD, host: down }).handler(held)).rejects.toThrow();
    expect(outcome(held)).toMatchObject({ heldBack: 'the local server is down', prevented404: false });
  });

  it('counts failovers, of the local server and of peers', async () => {
    const exchange = ask('GET', PODS);
    let attempts = 0;
    const { handler } = routing({
      table: tableOf([peer('b', NEW), peer('c', NEW)]),
      local: OLD,
      host: { handle: unsent },
      dispatch: () => (++attempts === 1 ? unsent() : Promise.resolve(answer())),
    });
    await handler(exchange);
    expect(outcome(exchange)).toEqual({ ...NOTHING, failovers: 2 });
  });

  it('is held back, but no prevented 404, where no server could be reached', async () => {
    const exchange = ask('GET', PODS);
    const { handler } = routing({ table: tableOf([]), local: OLD, host: { handle: unsent } });
    await expect(handler(exchange)).rejects.toThrow('cannot be served right now');
    expect(outcome(exchange)).toMatchObject({ heldBack: 'no server could be reached', prevented404: false });
  });
});

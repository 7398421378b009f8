import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange } from '../../http/exchange.js';
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

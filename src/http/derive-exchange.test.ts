import { describe, expect, it } from 'vitest';
import { parseRequestInfo } from '../kube/request-info.js';
import { deriveExchange, internalExchange } from './derive-exchange.js';
import { Exchange } from './exchange.js';
import type { Identity } from './identity.js';

const IDENTITY: Identity = { kind: 'established', user: 'ann', uid: '', groups: [], extra: new Map() };

function original(): Exchange {
  const connection = { remoteAddress: '192.0.2.1', certificateChain: [] };
  const init = { method: 'GET', target: '/api/v1/pods', headers: ['A', 'b'], body: null, connection, upgrade: true };
  const exchange = new Exchange(init, 5);
  exchange.info = parseRequestInfo('GET', exchange.target)!;
  exchange.identity = IDENTITY;
  exchange.trustedProxy = true;
  exchange.peerProxied = true;
  exchange.localOnly = true;
  exchange.gatheredBody = Buffer.from('original');
  exchange.routed = { to: 'b', why: 'test' };
  return exchange;
}

describe('deriveExchange', () => {
  it('keeps the request and the facts about its caller', () => {
    const first = original();
    const derived = deriveExchange(first, { nowMs: 7 });
    expect(derived).toMatchObject({ method: 'GET', target: '/api/v1/pods', startedAtMs: 7, upgrade: true });
    expect(derived).toMatchObject({ trustedProxy: true, identity: IDENTITY });
    expect(derived.headers).toBe(first.headers);
    expect(derived.connection).toBe(first.connection);
    expect(derived.info).toBe(first.info);
  });

  it('keeps neither body, route nor limits of the original', () => {
    const derived = deriveExchange(original(), { nowMs: 7 });
    expect(derived).toMatchObject({ peerProxied: false, localOnly: false, body: null });
    expect([derived.gatheredBody, derived.holding, derived.routed]).toEqual([undefined, undefined, undefined]);
  });

  it('parses the request info again for another target', () => {
    const body = Buffer.from('{}');
    const derived = deriveExchange(original(), { method: 'POST', target: '/apis/batch/v1/jobs', body, nowMs: 7 });
    expect(derived.info).toMatchObject({ verb: 'create', resource: 'jobs', group: 'batch' });
    expect(derived.gatheredBody).toBe(body);
    expect(derived.upgrade).toBe(false);
  });

  it('returns an exchange that is not aborted with its original', () => {
    const first = original();
    const derived = deriveExchange(first, { nowMs: 7 });
    first.abort();
    expect(derived.aborted).toBe(false);
  });
});

describe('internalExchange', () => {
  it('has the given identity and no client connection', () => {
    const request = { method: 'GET', target: '/api/v1/nodes', headers: [], identity: IDENTITY, nowMs: 3 };
    const exchange = internalExchange(request);
    expect(exchange).toMatchObject({ identity: IDENTITY, trustedProxy: false, peerProxied: false });
    expect(exchange.info).toMatchObject({ verb: 'list', resource: 'nodes' });
    expect(exchange.connection).toMatchObject({ remoteAddress: '', certificateChain: [] });
  });
});

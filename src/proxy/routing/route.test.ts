import { describe, expect, it } from 'vitest';
import { parseRequestInfo } from '../../kube/request-info.js';
import { type LocalServer, route } from './route.js';
import { peer, surfaceOf, tableOf } from './routing.fixture.js';

const OLD = surfaceOf({ '/v1/pods': 'get list create', '/v1/pods/status': 'get' });
const NEW = surfaceOf({
  '/v1/pods': 'get list create delete',
  '/v1/pods/status': 'get patch',
  '/v1/pods/resize': 'get patch',
  'batch/v2/jobs': 'get list',
});

const up = (surface = OLD): LocalServer => ({ surface, ready: true });
const down = (surface = OLD): LocalServer => ({ surface, ready: false });
const asked = (method: string, target: string) => parseRequestInfo(method, target)!;
const POD = '/api/v1/namespaces/x/pods/p';
const JOBS = '/apis/batch/v2/jobs';
const withNew = tableOf([peer('b', NEW), peer('c', OLD)]);

const kindOf = (method: string, target: string, local: LocalServer, table = withNew) => {
  const way = route(asked(method, target), local, table);
  return way.kind === 'reroute' ? way.peers.map(({ identity }) => identity).join() : way.kind;
};

describe('route, by the rules of docs/guide/routing.md', () => {
  it('rule 3: routes a non-resource request to the local server', () => {
    expect(kindOf('GET', '/version', up())).toBe('local');
  });

  it('rule 4: routes a resource of the local surface to the local server', () => {
    expect(kindOf('GET', POD, up())).toBe('local');
    expect(kindOf('GET', `${POD}/status`, up())).toBe('local');
    expect(kindOf('OPTIONS', '/api/v1/pods', up())).toBe('local');
  });

  it('rule 5: reroutes a resource that only peers serve to those peers', () => {
    expect(kindOf('GET', JOBS, up())).toBe('b');
  });

  it('rule 5: reroutes a subresource or verb that only a peer serves to that peer', () => {
    expect(kindOf('PATCH', `${POD}/resize`, up())).toBe('b');
    expect(kindOf('PATCH', `${POD}/status`, up())).toBe('b');
    expect(kindOf('DELETE', POD, up())).toBe('b');
  });

  it('rule 6: answers 503 for a resource that no live server serves while a peer is unread', () => {
    const way = route(asked('GET', JOBS), up(), tableOf([peer('b', undefined), peer('c', OLD)]));
    expect(way).toMatchObject({ kind: 'unavailable', why: expect.stringContaining('b') });
  });

  it('rule 6: answers 503 while a server that served the resource, subresource or verb is departed', () => {
    const table = tableOf([peer('c', OLD)], { gone: NEW });
    expect(route(asked('GET', JOBS), up(), table)).toMatchObject({
      kind: 'unavailable',
      why: expect.stringContaining('gone'),
    });
    expect(kindOf('PATCH', `${POD}/resize`, up(), table)).toBe('unavailable');
    expect(kindOf('DELETE', POD, up(), table)).toBe('unavailable');
    expect(kindOf('GET', '/apis/batch/v3/jobs', up(), table)).toBe('local');
  });

  it('rule 6: does not apply to a resource that the local server or a live peer serves', () => {
    expect(kindOf('GET', POD, up(), tableOf([peer('b', undefined)], { gone: NEW }))).toBe('local');
    expect(kindOf('GET', JOBS, up(), tableOf([peer('b', NEW), peer('c', undefined)], { gone: NEW }))).toBe('b');
  });

  it('rule 7: routes a resource that no server serves to the local server, which refuses it', () => {
    expect(kindOf('GET', '/apis/nothing/v1/x', up())).toBe('local');
    expect(kindOf('GET', '/apis/nothing/v1/x', { surface: undefined, ready: true }, tableOf([]))).toBe('local');
  });
});

describe('route, while the local server is down', () => {
  it('reroutes a resource of the local surface to a capable peer', () => {
    expect(kindOf('GET', POD, down())).toBe('b,c');
    expect(kindOf('PATCH', `${POD}/status`, down(NEW))).toBe('b');
  });

  it('reroutes a non-resource request to any peer', () => {
    expect(kindOf('GET', '/version', down())).toBe('b,c');
    expect(kindOf('GET', '/version', down(), tableOf([]))).toBe('unavailable');
  });

  it('answers 503, never 404, for a resource that no peer serves', () => {
    expect(kindOf('GET', JOBS, down(NEW), tableOf([peer('c', OLD)]))).toBe('unavailable');
    expect(kindOf('GET', '/apis/nothing/v1/x', down())).toBe('unavailable');
    expect(kindOf('GET', POD, { surface: undefined, ready: false }, tableOf([]))).toBe('unavailable');
  });
});

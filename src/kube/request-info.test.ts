import { describe, expect, it } from 'vitest';
import { parseRequestInfo, type RequestInfo } from './request-info.js';

type Wanted = Partial<RequestInfo>;
const CORE = { isResource: true, apiPrefix: 'api', group: '', version: 'v1' };
const APPS = { isResource: true, apiPrefix: 'apis', group: 'apps', version: 'v1' };

describe('parseRequestInfo of resource requests', () => {
  it.each<[string, string, Wanted]>([
    ['GET', '/api/v1/namespaces', { ...CORE, verb: 'list', resource: 'namespaces', namespace: '', name: '' }],
    ['GET', '/api/v1/namespaces/x', { ...CORE, verb: 'get', resource: 'namespaces', namespace: 'x', name: 'x' }],
    [
      'PUT',
      '/api/v1/namespaces/x/status',
      { verb: 'update', resource: 'namespaces', namespace: 'x', name: 'x', subresource: 'status' },
    ],
    [
      'PUT',
      '/api/v1/namespaces/x/finalize',
      { verb: 'update', resource: 'namespaces', name: 'x', subresource: 'finalize' },
    ],
    ['GET', '/api/v1/namespaces/x/pods', { verb: 'list', resource: 'pods', namespace: 'x', name: '', subresource: '' }],
    ['GET', '/api/v1/namespaces/x/pods/p', { verb: 'get', resource: 'pods', namespace: 'x', name: 'p' }],
    ['HEAD', '/api/v1/namespaces/x/pods/p', { verb: 'get', name: 'p' }],
    ['HEAD', '/api/v1/pods', { verb: 'list', resource: 'pods' }],
    ['POST', '/api/v1/namespaces/x/pods', { verb: 'create', resource: 'pods' }],
    [
      'PATCH',
      '/api/v1/namespaces/x/pods/p/resize',
      { verb: 'patch', resource: 'pods', name: 'p', subresource: 'resize' },
    ],
    ['DELETE', '/api/v1/namespaces/x/pods/p', { verb: 'delete', name: 'p' }],
    ['DELETE', '/api/v1/namespaces/x/pods', { verb: 'deletecollection', resource: 'pods', name: '' }],
    ['OPTIONS', '/api/v1/pods', { verb: '', resource: 'pods' }],
    [
      'GET',
      '/api/v1/nodes/n/proxy/metrics/x',
      { resource: 'nodes', name: 'n', subresource: 'proxy', longRunning: true },
    ],
    ['GET', '/apis/apps/v1/deployments', { ...APPS, verb: 'list', resource: 'deployments', namespace: '' }],
    [
      'PUT',
      '/apis/apps/v1/namespaces/x/deployments/d/scale',
      { ...APPS, verb: 'update', namespace: 'x', name: 'd', subresource: 'scale' },
    ],
    ['GET', '/apis/apps/v1/namespaces/x', { ...APPS, verb: 'get', resource: 'namespaces', namespace: 'x', name: 'x' }],
    ['GET', '//api/v1//pods/', { ...CORE, resource: '', name: 'pods' }],
    ['GET', '/api/v1/pods/', { verb: 'list', resource: 'pods', name: '' }],
    ['get', '/api/v1/pods', { verb: '', resource: 'pods' }],
  ])('parses %s %s', (method, target, wanted) => {
    expect(parseRequestInfo(method, target)).toMatchObject({ isResource: true, ...wanted });
  });

  it.each<[string, Wanted]>([
    ['/api/v1/watch/pods', { verb: 'watch', resource: 'pods', namespace: '', name: '' }],
    ['/api/v1/watch/namespaces/x/pods', { verb: 'watch', resource: 'pods', namespace: 'x' }],
    ['/api/v1/watch/namespaces/x/pods/p', { verb: 'watch', resource: 'pods', namespace: 'x', name: 'p' }],
    ['/apis/apps/v1/watch/deployments', { verb: 'watch', group: 'apps', resource: 'deployments' }],
    [
      '/api/v1/proxy/namespaces/x/pods/p/a/b',
      { verb: 'proxy', resource: 'pods', namespace: 'x', name: 'p', subresource: '' },
    ],
    ['/api/v1/proxy/nodes/n', { verb: 'proxy', resource: 'nodes', name: 'n' }],
  ])('parses the legacy path %s as long-running', (target, wanted) => {
    expect(parseRequestInfo('GET', target)).toMatchObject({ isResource: true, longRunning: true, ...wanted });
  });

  it.each([
    ['watch=true', 'watch'],
    ['watch=1', 'watch'],
    ['watch', 'watch'],
    ['watch=', 'watch'],
    ['watch=yes', 'watch'],
    ['watch=false', 'list'],
    ['watch=False', 'list'],
    ['watch=0', 'list'],
    ['watch=0&watch=1', 'list'],
    ['watch=1&watch=0', 'watch'],
    ['%77atch=1', 'watch'],
    ['watch=%66alse', 'list'],
    ['labelSelector=watch%3Dtrue', 'list'],
    ['watched=1', 'list'],
    ['', 'list'],
  ])('parses GET /api/v1/pods?%s as %s', (query, verb) => {
    expect(parseRequestInfo('GET', `/api/v1/pods?${query}`)).toMatchObject({ verb, longRunning: verb === 'watch' });
  });

  it('ignores watch=1 for one object by name, and for other methods than GET', () => {
    expect(parseRequestInfo('GET', '/api/v1/namespaces/x/pods/p?watch=1')).toMatchObject({ verb: 'get' });
    expect(parseRequestInfo('POST', '/api/v1/namespaces/x/pods?watch=1')).toMatchObject({ verb: 'create' });
  });

  it.each(['exec', 'attach', 'portforward', 'proxy', 'log'])(
    'parses the subresource %s as long-running',
    (subresource) => {
      const target = `/api/v1/namespaces/x/pods/p/${subresource}`;
      expect(parseRequestInfo('GET', target)).toMatchObject({ subresource, longRunning: true });
    },
  );

  it('parses the subresource status as not long-running', () => {
    expect(parseRequestInfo('GET', '/api/v1/namespaces/x/pods/p/status')!.longRunning).toBe(false);
  });
});

describe('parseRequestInfo of non-resource requests', () => {
  it.each([
    '/',
    '/api',
    '/api/',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/apps/v1/',
    '/healthz',
    '/openapi/v3/apis/apps/v1',
    '/version',
    '/apiss/apps/v1/x',
    '/logs/api/v1/pods',
  ])('parses %s as no resource', (target) => {
    expect(parseRequestInfo('POST', target)).toMatchObject({ isResource: false, verb: 'post', longRunning: false });
  });

  it('returns the decoded path', () => {
    expect(parseRequestInfo('GET', '/%61pi?x=%zz')).toMatchObject({ path: '/api', isResource: false });
  });
});

describe('parseRequestInfo of percent-encoded targets', () => {
  it('decodes the path before it splits it, encoded slashes included', () => {
    expect(parseRequestInfo('GET', '/api/v1/namespaces/a%2Fpods/b')).toMatchObject({
      namespace: 'a',
      resource: 'pods',
      name: 'b',
    });
    expect(parseRequestInfo('GET', '/api/v1/%70ods')).toMatchObject({ resource: 'pods' });
    expect(parseRequestInfo('GET', '/api%2Fv1%2Fpods')).toMatchObject({ isResource: true, resource: 'pods' });
  });

  it('decodes the path once', () => {
    expect(parseRequestInfo('GET', '/api/v1/pods%252Fx')).toMatchObject({ resource: 'pods%2Fx' });
  });

  it('does not read an encoded question mark as the start of a query', () => {
    expect(parseRequestInfo('GET', '/api/v1/pods%3Fwatch=1')).toMatchObject({ resource: 'pods?watch=1', verb: 'list' });
  });

  it.each([
    ['percent-encoded', '/api/v1/namespaces/d%C3%B6rf/pods/%E5%A4%9C%F0%9F%8C%99'],
    ['raw octets', Buffer.from('/api/v1/namespaces/dörf/pods/夜🌙').toString('latin1')],
  ])('reads octets as UTF-8: %s', (_, target) => {
    expect(parseRequestInfo('GET', target)).toMatchObject({ namespace: 'dörf', name: '夜🌙' });
  });

  it('keeps names that are not UTF-8 distinct from each other and from every name that is', () => {
    const encoded = ['%FF', '%C3%BF', '%FE', '%EF%BF%BD', '%C3', '%C3%28', '%ED%B3%BF', '%C0%AF', '%F0%9F%8C', 'a%FFb'];
    const names = encoded.map((each) => parseRequestInfo('GET', `/api/v1/nodes/${each}`)!.name);
    expect(new Set(names).size).toBe(encoded.length);
    expect(names.every((name) => !name.includes('/'))).toBe(true);
    expect(names.filter((name) => Buffer.from(name).toString() === name)).toEqual(['ÿ', '\ufffd']);
  });

  it('returns undefined for a target with characters above latin1', () => {
    expect(parseRequestInfo('GET', '/api/v1/nodes/夜')).toBeUndefined();
  });

  it.each(['/api/v1/%', '/api/v1/%4', '/api/v1/%zz/pods', '/%'])(
    'returns undefined for malformed percent-encoding: %s',
    (target) => {
      expect(parseRequestInfo('GET', target)).toBeUndefined();
    },
  );
});

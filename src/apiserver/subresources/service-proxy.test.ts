import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

const SERVICES = '/api/v1/namespaces/default/services';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

/** Started before any test asks: both versions are asked the same. */
const servers: Record<string, TestApiServer> = {};

beforeAll(async () => {
  for (const version of ['1.36', '1.37']) {
    const server = await startTestApiServer({ version });
    servers[version] = server;
    for (const name of ['known', 'kept']) {
      const spec = { ports: [{ name: 'http', port: 80 }] };
      expect((await server.ask('POST', SERVICES, { body: { metadata: { name }, spec } })).status).toBe(201);
    }
    const slice = {
      metadata: { name: 'kept-1', labels: { 'kubernetes.io/service-name': 'kept' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80 }],
      endpoints: [{ addresses: ['10.1.2.3'] }],
    };
    expect((await server.ask('POST', SLICES, { body: slice })).status).toBe(201);
  }
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
});

async function proxied(version: string, name: string): Promise<unknown> {
  const { body } = await servers[version]!.ask('GET', `${SERVICES}/${name}/proxy/`);
  return [body['code'], body['message']];
}

describe('a proxy request for a service', () => {
  it('that is absent is 503 since 1.37, and 404 before', async () => {
    expect(await proxied('1.36', 'absent')).toEqual([404, 'services "absent" not found']);
    expect(await proxied('1.37', 'absent')).toEqual([503, 'no endpoints available for service "absent"']);
  });

  // As kube-apiserver 1.37.1 answers.
  it.each([
    ['http:absent:', 503, 'no endpoints available for service "absent"'],
    ['absent:http', 503, 'no endpoints available for service "absent"'],
    ['absent:80', 404, 'services "absent" not found'],
    ['known', 503, 'no endpoints available for service "known"'],
    ['known:80', 503, 'no endpoints available for service "known"'],
    ['known:82', 503, 'no service port 82 found for service "known"'],
    ['ftp:known:80', 400, 'invalid service request "ftp:known:80"'],
    ['a:b:c:d', 400, 'invalid service request "a:b:c:d"'],
  ])('reads only what its name asks for in 1.37: %s', async (name, code, message) => {
    expect(await proxied('1.37', name)).toEqual([code, message]);
  });

  it('with endpoints needs a kubelet', async () => {
    for (const name of ['kept', 'https:kept:80']) {
      expect(await proxied('1.37', name)).toEqual([
        503,
        'services/proxy needs a kubelet; this API server runs without nodes',
      ]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { aggregated } from '../../proxy/peers/fake-server.fixture.js';
import { readServer, type ServerReader, SurfaceCaptureError } from './read-server.js';

const DOCUMENTS: Record<string, Json> = {
  '/version': { gitVersion: 'v1.36.4', major: '1', minor: '36' },
  '/api': aggregated({ '/v1/pods': 'get' }) as Json,
  '/apis': aggregated({ 'batch/v1/jobs': 'get', 'demo.test/v1/things': 'get' }) as Json,
  '/apis/apiregistration.k8s.io/v1/apiservices': {
    items: [{ metadata: {}, spec: { group: 'demo.test', version: 'v1', service: {} } }],
  },
};

const readerOf = (more: Record<string, Json> = {}): ServerReader => ({
  get: async (path) => ({ ...DOCUMENTS, ...more })[path]!,
  withOpenApi: false,
});

describe('the documents of a running server', () => {
  it('are reduced to built-in resources', async () => {
    const { version, discovery } = await readServer(readerOf());
    expect(version).toBe('1.36');
    expect(discovery.core).toMatchObject([{ versions: [{ version: 'v1', resources: [{ resource: 'pods' }] }] }]);
    expect(discovery.groups.map(({ metadata }) => metadata.name)).toEqual(['batch']);
  });

  it.each([
    ['of another kind', { kind: 'APIGroupList' }, /no aggregated discovery/],
    ['that is no object', null, /no aggregated discovery/],
    ['with a group that is no object', { ...aggregated({}), items: [7] }, /items\[0\]: is not an object/],
    ['with versions that are no list', { ...aggregated({}), items: [{ versions: 'v1' }] }, /versions: is not a list/],
  ])('are refused with a clear error for discovery %s', async (_, document, message) => {
    const reading = readServer(readerOf({ '/apis': document as Json }));
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow('/apis');
    await expect(reading).rejects.toBeInstanceOf(SurfaceCaptureError);
  });
});

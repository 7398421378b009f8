import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StartedListener, serverCa, startListener, text } from '../../http/server/listener.fixture.js';
import { makeClient } from '../../http/tls/pki.fixture.js';
import { aggregated } from '../../proxy/peers/fake-server.fixture.js';
import { ApiConnection } from './api-connection.js';

const client = makeClient(serverCa, { cn: 'tester' });
let server: StartedListener;
let connection: ApiConnection;
let documents: Record<string, string>;

beforeEach(async () => {
  documents = {
    '/api': JSON.stringify(aggregated({ '/v1/pods': 'get' })),
    '/apis': JSON.stringify(aggregated({ 'batch/v1/jobs': 'get list' })),
  };
  server = await startListener(async ({ target }) => text(documents[target]!));
  connection = new ApiConnection({
    url: `https://127.0.0.1:${server.port}`,
    caPem: serverCa.pem,
    certPem: client.pem,
    keyPem: client.keyPem,
  });
});

afterEach(async () => {
  await connection.close();
  await server.close();
});

describe('discovery read by a rehearsal', () => {
  it('has the groups of /api and /apis', async () => {
    const { status, groups } = await connection.discover();
    expect(status).toBe(200);
    expect(groups.map(({ metadata }) => metadata.name)).toEqual([undefined, 'batch']);
  });

  it.each([
    ['that is not JSON', '<html>', /not JSON/],
    ['of another kind', '{"kind":"APIGroupList","groups":[]}', /kind is not APIGroupDiscoveryList/],
    [
      'with a group that is no object',
      JSON.stringify({ ...aggregated({}), items: [5] }),
      /items\[0\]: is not an object/,
    ],
  ])('is rejected for a document %s, with an error that contains the position', async (_, document, message) => {
    documents['/apis'] = document;
    await expect(connection.discover()).rejects.toThrow(message);
    await expect(connection.discover()).rejects.toThrow('/apis');
  });
});

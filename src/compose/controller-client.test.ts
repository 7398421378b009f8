import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.js';
import type { Handler } from '../http/exchange.js';
import { aggregated } from '../proxy/peers/fake-server.fixture.js';
import { noPeers } from '../proxy/peers/no-peers.js';
import { controllerClient } from './controller-client.js';

/** A client of a server whose `/apis` is this text. */
function clientOf(apis: string) {
  const api = JSON.stringify(aggregated({ '/v1/pods': 'get' }));
  const handler: Handler = async ({ target }) => ({
    status: 200,
    headers: ['Content-Type', 'application/json'],
    body: Buffer.from(target === '/api' ? api : apis),
  });
  return controllerClient({ handler, directory: noPeers(), isReady: () => true }, systemClock);
}

describe('discovery read by controllers', () => {
  it('has the groups of /api and /apis', async () => {
    const { groups } = await clientOf(JSON.stringify(aggregated({ 'batch/v1/jobs': 'get' }))).discover();
    expect(groups.map(({ metadata }) => metadata.name)).toEqual([undefined, 'batch']);
  });

  it.each([
    ['that is not JSON', '<html>', /not JSON/],
    ['of another kind', '{"kind":"APIGroupList","groups":[]}', /kind is not APIGroupDiscoveryList/],
    [
      'with a group that is no object',
      JSON.stringify({ ...aggregated({}), items: [null] }),
      /items\[0\]: is not an obj/,
    ],
  ])('is rejected for a document %s, with an error that contains the position', async (_, document, message) => {
    await expect(clientOf(document).discover()).rejects.toThrow(message);
    await expect(clientOf(document).discover()).rejects.toThrow('/apis');
  });
});

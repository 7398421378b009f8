import { describe, expect, it } from 'vitest';
import type { ApiAnswer, ApiRequest } from '../../kube/client/api-client.js';
import { type Action, TrackedObject } from './tracked-object.js';

const answer = (status: number): ApiAnswer => ({ status, body: {} });

function setUp() {
  const object = new TrackedObject('/api/v1/namespaces/a/configmaps', 'mine', { metadata: { name: 'mine' } });
  const sent: ApiRequest[] = [];
  const perform = (action: Action, status: number): Promise<ApiAnswer> =>
    object.perform(action, async (request) => {
      sent.push(request);
      expect(object.isBusy).toBe(true);
      return answer(status);
    });
  return { object, sent, perform };
}

describe('TrackedObject', () => {
  it('exists from its acknowledged creation to the moment its deletion is sent', async () => {
    const { object, perform } = setUp();
    expect(object.exists).toBe(false);
    await perform('create', 201);
    expect(object.exists).toBe(true);
    const during: boolean[] = [];
    await object.perform('delete', async () => {
      during.push(object.exists);
      return answer(200);
    });
    expect(during).toEqual([false]);
    expect(object.exists).toBe(false);
  });

  it.each([404, 503, 0])('does not exist after the reply %i to its create, and is created again', async (status) => {
    const { object, perform } = setUp();
    await perform('create', status);
    expect(object.exists).toBe(false);
    await perform('create', 409);
    expect(object.exists).toBe(true);
  });

  it('keeps existing whatever the replies to reads and updates are', async () => {
    const { object, perform } = setUp();
    await perform('create', 201);
    for (const status of [404, 503, 500, 409]) {
      await perform('get', status);
      await perform('update', status);
    }
    expect(object.exists).toBe(true);
  });

  it('changes with every update, so that each makes an event', async () => {
    const { sent, perform } = setUp();
    await perform('create', 201);
    await perform('update', 200);
    await perform('update', 200);
    expect(sent[1]!.body).not.toEqual(sent[2]!.body);
    expect(sent[1]!.contentType).toBe('application/merge-patch+json');
  });
});

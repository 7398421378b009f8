import { startControlPlane } from 'straddle/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepLabel, send } from './label-keeper.cjs';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe('the label keeper', () => {
  let plane;
  let api;
  beforeAll(async () => {
    plane = await startControlPlane({ versions: ['1.36', '1.37'] });
    const rules = [{ verbs: ['get', 'update'], resources: ['configmaps'], namespace: 'default' }];
    const { credentials } = await plane.as({ serviceAccount: 'default/label-keeper' }, rules);
    api = { url: plane.front.url, credentials };
  });
  beforeEach(async () => {
    await plane.reset();
    plane.faults.clear();
    const admin = { url: plane.front.url, credentials: plane.credentials };
    await send(admin, 'POST', CONFIG_MAPS, { metadata: { name: 'settings' } });
  });
  afterAll(() => plane.close());

  it('tries again after a conflict', async () => {
    const recorder = plane.record({ user: 'system:serviceaccount:default:label-keeper' });
    plane.faults.conflict({ name: 'settings' });
    expect(await keepLabel(api, `${CONFIG_MAPS}/settings`, 'kept')).toBe(200);
    const done = recorder.requests.map(({ verb, status }) => `${verb} ${status}`);
    expect(done).toEqual(['get 200', 'update 409', 'get 200', 'update 200']);
    expect(recorder.requests.at(-1).body.metadata.labels.kept).toBe('yes');
    recorder.stop();
  });

  it('needs no other rights than those of its role', async () => {
    expect(await keepLabel(api, '/api/v1/namespaces/default/secrets/any', 'kept')).toBe(403);
  });

  it('goes on while a server is down', async () => {
    const up = await plane.faults.down('server-2');
    expect(await keepLabel(api, `${CONFIG_MAPS}/settings`, 'kept')).toBe(200);
    await up();
  });
});

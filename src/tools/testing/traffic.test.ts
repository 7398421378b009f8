import { request } from 'node:https';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask, CONFIG_MAPS, openWatch } from './ask.fixture.js';
import { type ControlPlane, type RequestMatch, startControlPlane } from './index.js';

// Several servers and their clients share one thread, and that may have to share a processor.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane({ versions: ['1.36', '1.37'], controllers: [] });
});
afterEach(() => plane.faults.clear());
afterAll(() => plane.close());

interface Sent {
  readonly status: number;
  readonly text: string;
}

function send(method: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${plane.front.url}${path}`,
      { ...plane.credentials, agent: false, method, headers },
      (reply) => {
        let text = '';
        reply.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        reply.on('error', reject);
        reply.on('end', () => resolve({ status: reply.statusCode!, text }));
      },
    );
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const merge = (path: string, body: object) =>
  send('PATCH', path, { 'Content-Type': 'application/merge-patch+json' }, body);

describe('ControlPlane.record', () => {
  it('has each request of a client once, with caller, object, body and status', async () => {
    const recorder = plane.record();
    await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'seen' }, data: { a: 'b' } });
    await ask(plane, 'server-2', `${CONFIG_MAPS}/absent`);
    await send('GET', '/apis', { 'User-Agent': 'operator/v1' });
    expect(recorder.requests).toHaveLength(3);
    const [made, missing, discovery] = recorder.requests;
    expect(made).toMatchObject({
      method: 'POST',
      verb: 'create',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      namespace: 'default',
      user: 'kubernetes-admin',
      groups: expect.arrayContaining(['system:masters']),
      body: { metadata: { name: 'seen' }, data: { a: 'b' } },
      status: 201,
    });
    expect(missing).toMatchObject({ server: 'server-2', verb: 'get', name: 'absent', status: 404, body: undefined });
    expect(discovery).toMatchObject({ path: '/apis', userAgent: 'operator/v1', resource: '', status: 200 });
    recorder.stop();
    await ask(plane, 'front', CONFIG_MAPS);
    expect([...recorder]).toHaveLength(3);
    recorder.clear();
    expect([...recorder]).toHaveLength(0);
  });

  it('keeps only requests that match, and finds them by any member', async () => {
    const writes = plane.record({ verb: ['create', 'patch'], resource: 'configmaps' });
    await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'matched' } });
    await ask(plane, 'front', `${CONFIG_MAPS}/matched`);
    await merge(`${CONFIG_MAPS}/matched`, { data: { a: 'b' } });
    await ask(plane, 'front', '/api/v1/namespaces/default/secrets', { metadata: { name: 'matched' } });
    expect(writes.requests.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['create ', 'patch matched']);
    expect(writes.matching({ status: 200 })).toHaveLength(1);
    expect(writes.matching({ status: (status) => status > 200, user: /^kube/g })).toHaveLength(1);
    expect(writes.matching({ name: (name) => name.startsWith('match'), path: /configmaps\// })).toHaveLength(1);
    writes.stop();
  });

  it('waits for requests, and says what came instead', async () => {
    const recorder = plane.record({ resource: 'configmaps' });
    const waiting = recorder.waitFor({ verb: 'list' }, { count: 2, timeout: '20s' });
    await ask(plane, 'front', CONFIG_MAPS);
    await ask(plane, 'front', CONFIG_MAPS);
    expect(await waiting).toHaveLength(2);
    await expect(recorder.waitFor({ verb: 'delete' }, { timeout: '10ms' })).rejects.toThrow(
      /^waitFor: 0 of 1 requests within 10ms; the last of 2 that came: GET .*configmaps 200, GET .*configmaps 200\.$/,
    );
    recorder.stop();
  });

  it.each<[unknown, string]>([
    [{ verbs: 'get' }, 'record: there is no verbs; did you mean verb?'],
    [{ verb: 3 }, 'record: verb cannot be 3.'],
    ['pods', "record: 'pods' is no match; give an object."],
  ])('refuses the match %j', (match, sentence) => {
    expect(() => plane.record(match as RequestMatch)).toThrow(new Error(sentence));
  });
});

describe('ControlPlane.faults', () => {
  it('expire cuts watches and answers the next one with 410 once', async () => {
    const watch = await openWatch(plane, 'server-1', CONFIG_MAPS);
    const fault = plane.faults.expire({ resource: 'configmaps' });
    expect(await watch.ended).toBe(false);
    const list = await ask(plane, 'front', CONFIG_MAPS);
    const { resourceVersion } = list.body['metadata'] as { resourceVersion: string };
    const path = `${CONFIG_MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`;
    const { status, text } = await send('GET', path);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(fault.hits).toBe(1);
    expect((await send('GET', path)).text).toBe('');
  });

  it('conflict refuses one update and changes nothing', async () => {
    await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'contended' } });
    plane.faults.conflict({ name: 'contended' });
    const refused = await merge(`${CONFIG_MAPS}/contended`, { data: { a: 'b' } });
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.text)).toMatchObject({
      reason: 'Conflict',
      details: { name: 'contended', kind: 'configmaps' },
    });
    expect((await ask(plane, 'front', `${CONFIG_MAPS}/contended`)).body['data']).toBeUndefined();
    expect((await merge(`${CONFIG_MAPS}/contended`, { data: { a: 'b' } })).status).toBe(200);
  });

  it('fail refuses requests that match until it is ended', async () => {
    const fault = plane.faults.fail({ verb: 'list', resource: 'secrets' }, { status: 503 });
    const secrets = '/api/v1/namespaces/default/secrets';
    expect(await ask(plane, 'front', secrets)).toMatchObject({ status: 503, body: { reason: 'ServiceUnavailable' } });
    expect(await ask(plane, 'server-2', secrets)).toMatchObject({ status: 503 });
    expect(await ask(plane, 'front', CONFIG_MAPS)).toMatchObject({ status: 200 });
    fault.end();
    expect(fault.hits).toBe(2);
    expect(await ask(plane, 'front', secrets)).toMatchObject({ status: 200 });
    expect(() => plane.faults.fail({}, { status: 418 })).toThrow('fail: no error of an API server has the status 418.');
  });

  it('delay holds a request back', async () => {
    plane.faults.delay({ resource: 'configmaps' }, { by: '300ms', times: 1 });
    const recorder = plane.record({ resource: 'configmaps' });
    await ask(plane, 'front', CONFIG_MAPS);
    await ask(plane, 'front', CONFIG_MAPS);
    expect(recorder.requests[0]!.durationMs).toBeGreaterThanOrEqual(299);
    recorder.stop();
    expect(() => plane.faults.delay({}, { by: 5 as unknown as string })).toThrow(
      "delay: by: 5 is no duration; give it with its unit, as in '500ms', '30s' or '1h30m'. Did you mean '5ms'?",
    );
  });

  it('hideFromDiscovery takes a group out of the documents and leaves its objects', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const groups = async (accept: string): Promise<string[]> => {
      const { items, groups } = JSON.parse((await send('GET', '/apis', { Accept: accept })).text);
      return (items ?? groups).map(
        (each: { name?: string; metadata?: { name: string } }) => each.metadata?.name ?? each.name,
      );
    };
    const fault = plane.faults.hideFromDiscovery('apps');
    for (const accept of [aggregated, 'application/json']) {
      expect(await groups(accept)).toContain('batch');
      expect(await groups(accept)).not.toContain('apps');
    }
    expect((await ask(plane, 'front', '/apis/apps/v1')).status).toBe(404);
    expect((await ask(plane, 'front', deployments)).status).toBe(200);
    fault.end();
    for (const accept of [aggregated, 'application/json']) expect(await groups(accept)).toContain('apps');
    expect((await ask(plane, 'front', '/apis/apps/v1')).status).toBe(200);
  });

  it('cutWatches breaks off those that match', async () => {
    const [one, other] = [
      await openWatch(plane, 'server-1', CONFIG_MAPS),
      await openWatch(plane, 'server-2', '/api/v1/namespaces/default/secrets'),
    ];
    expect(plane.faults.cutWatches({ resource: 'configmaps' })).toBe(1);
    expect(await one.ended).toBe(false);
    expect(plane.faults.cutWatches()).toBe(1);
    expect(await other.ended).toBe(false);
    expect(plane.faults.cutWatches()).toBe(0);
  });

  it('down kills a server until the returned function is called', async () => {
    const up = await plane.faults.down('server-2');
    expect(plane.servers[1]!.isRunning).toBe(false);
    await up();
    expect(plane.servers[1]!.isRunning).toBe(true);
    expect((await ask(plane, 'server-2', CONFIG_MAPS)).status).toBe(200);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

let api: TestApiServer;
beforeAll(async () => {
  api = await startTestApiServer();
});
afterAll(() => api.close());

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, data: JsonObject = { a: '1' }): JsonObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data,
});
const meta = (object: JsonObject): JsonObject => object['metadata'] as JsonObject;

const containers = [{ name: 'c', image: 'i' }];
const deploymentSpec = (): JsonObject => ({
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
});
const scalerSpec = (): JsonObject => ({
  maxReplicas: 2,
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'same' },
});

describe('create', () => {
  it('stores an object with the metadata that the server sets', async () => {
    const { status, body } = await api.ask('POST', MAPS, {
      body: { ...map('made'), metadata: { name: 'made', uid: 'mine', generation: 7 } },
    });
    expect(status).toBe(201);
    expect(meta(body)).toMatchObject({ name: 'made', namespace: 'default' });
    expect(meta(body)['uid']).not.toBe('mine');
    expect(meta(body)['generation']).toBeUndefined();
    expect(meta(body)['creationTimestamp']).toMatch(/^\d{4}-.*Z$/);
    const read = await api.ask('GET', `${MAPS}/made`);
    expect(read.body).toEqual(body);
    expect(Object.keys(read.body).slice(0, 3)).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  it.each<[string, JsonObject]>([
    [MAPS, { ...map('é, "quoted"'), metadata: { name: 'same', resourceVersion: '0', labels: { a: 'b' } } }],
    [
      '/apis/batch/v1/namespaces/default/jobs',
      { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } },
    ],
    ['/api/v1/namespaces/default/services', { spec: { ports: [{ port: 80 }] } }],
    ['/apis/apps/v1/namespaces/default/deployments', { spec: deploymentSpec() }],
    ['/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', { spec: scalerSpec() }],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }],
    ['/api/v1/namespaces', {}],
  ])('replies to POST %s with the object that another server reads from the store', async (path, object) => {
    const made = await api.ask('POST', path, { body: { metadata: { name: 'same' }, ...object } });
    expect(made.status).toBe(201);
    const cold = await startTestApiServer({ backend: api.backend });
    expect((await cold.ask('GET', `${path}/same`)).body).toEqual(made.body);
    await cold.close();
  });

  it('generates a name, and another one if that exists', async () => {
    const names = new Set<string>();
    for (let count = 0; count < 5; count++) {
      const { body } = await api.ask('POST', MAPS, { body: { ...map(''), metadata: { generateName: 'gen-' } } });
      names.add(String(meta(body)['name']));
    }
    expect(names.size).toBe(5);
    for (const name of names) expect(name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('refuses a name that exists with the message of kube-apiserver', async () => {
    await api.ask('POST', MAPS, { body: map('twice') });
    const { status, body } = await api.ask('POST', MAPS, { body: map('twice') });
    expect([status, body['reason'], body['message']]).toEqual([
      409,
      'AlreadyExists',
      'configmaps "twice" already exists',
    ]);
    expect(body['details']).toEqual({ name: 'twice', kind: 'configmaps' });
  });

  it('stores nothing in a dry run', async () => {
    expect((await api.ask('POST', `${MAPS}?dryRun=All`, { body: map('dry') })).status).toBe(201);
    expect((await api.ask('GET', `${MAPS}/dry`)).status).toBe(404);
  });

  it('refuses another namespace, another kind, another version and a missing namespace', async () => {
    const wrong = { ...map('x'), metadata: { name: 'x', namespace: 'other' } };
    expect((await api.ask('POST', MAPS, { body: wrong })).status).toBe(400);
    expect((await api.ask('POST', MAPS, { body: { ...map('x'), kind: 'Secret' } })).status).toBe(400);
    expect((await api.ask('POST', MAPS, { body: { ...map('x'), apiVersion: 'v2' } })).status).toBe(400);
    const lost = await api.ask('POST', MAPS.replace('default', 'nowhere'), { body: map('x') });
    expect([lost.status, lost.body['message']]).toEqual([404, 'namespaces "nowhere" not found']);
  });

  it('treats unknown and duplicate fields according to fieldValidation', async () => {
    const body = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd"},"data":{"a":"1","a":"2"},"dat":1}';
    const strict = await api.ask('POST', `${MAPS}?fieldValidation=Strict&dryRun=All`, { body });
    expect(strict.status).toBe(400);
    expect(strict.body['message']).toContain('strict decoding error: duplicate field "data.a", unknown field "dat"');
    const warned = await api.ask('POST', `${MAPS}?dryRun=All`, { body });
    expect(warned.status).toBe(201);
    expect(warned.warnings).toEqual(['299 - "duplicate field \\"data.a\\""', '299 - "unknown field \\"dat\\""']);
    expect((await api.ask('POST', `${MAPS}?fieldValidation=Ignore&dryRun=All`, { body })).warnings).toEqual([]);
  });

  it('accepts YAML, and refuses YAML with excessive aliases', async () => {
    const headers = { 'content-type': 'application/yaml' };
    const yaml = 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: yaml}\ndata: {a: "1"}\n';
    expect((await api.ask('POST', MAPS, { body: yaml, headers })).status).toBe(201);
    const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let level = 1; level < 10; level++)
      bomb.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(',')}]`,
      );
    expect((await api.ask('POST', MAPS, { body: bomb.join('\n'), headers })).status).toBe(400);
  });
});

describe('update', () => {
  it('replaces an object only at the resourceVersion of the client', async () => {
    const { body: first } = await api.ask('POST', MAPS, { body: map('put') });
    const changed = { ...first, data: { a: '2' } };
    const second = await api.ask('PUT', `${MAPS}/put`, { body: changed });
    expect([second.status, second.body['data']]).toEqual([200, { a: '2' }]);
    expect(meta(second.body)['uid']).toBe(meta(first)['uid']);
    const stale = await api.ask('PUT', `${MAPS}/put`, { body: { ...changed, data: { a: '3' } } });
    expect([stale.status, stale.body['reason']]).toEqual([409, 'Conflict']);
    expect(stale.body['message']).toContain('the object has been modified');
  });

  it('writes nothing if the object does not change', async () => {
    const { body } = await api.ask('POST', MAPS, { body: map('same') });
    const again = await api.ask('PUT', `${MAPS}/same`, { body });
    expect(meta(again.body)['resourceVersion']).toBe(meta(body)['resourceVersion']);
  });

  it('increments the generation for a change of spec, not of status or labels', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    const { body } = await api.ask('POST', path, {
      body: { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'd' }, spec, status: { replicas: 9 } },
    });
    expect(meta(body)['generation']).toBe(1);
    expect((body['status'] as JsonObject)['replicas']).toBeUndefined();
    const labelled = await api.ask('PATCH', `${path}/d`, { body: { metadata: { labels: { x: 'y' } } } });
    expect(meta(labelled.body)['generation']).toBe(1);
    const status = await api.ask('PATCH', `${path}/d/status`, {
      body: { spec: { replicas: 7 }, status: { replicas: 3 } },
    });
    expect([meta(status.body)['generation'], (status.body['spec'] as JsonObject)['replicas']]).toEqual([1, 1]);
    expect((status.body['status'] as JsonObject)['replicas']).toBe(3);
    const scaled = await api.ask('PATCH', `${path}/d/scale`, { body: { spec: { replicas: 4 } } });
    expect(scaled.body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 4 },
      status: { replicas: 3, selector: 'a=b' },
    });
    expect(meta((await api.ask('GET', `${path}/d`)).body)['generation']).toBe(2);
  });

  it('creates a lease by PUT, but not a config map', async () => {
    const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'l' }, spec: {} };
    expect(
      (await api.ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { body: lease })).status,
    ).toBe(201);
    expect((await api.ask('PUT', `${MAPS}/nothing`, { body: map('nothing') })).status).toBe(404);
  });
});

describe('patch', () => {
  const patch = (name: string, type: string, body: JsonObject | readonly unknown[] | string, query = '') =>
    api.ask('PATCH', `${MAPS}/${name}${query}`, { body, headers: { 'content-type': type } });

  it('accepts each of the four patch types', async () => {
    await api.ask('POST', MAPS, { body: map('patched', { a: '1', b: '2' }) });
    const json = await patch('patched', 'application/json-patch+json', [
      { op: 'replace', path: '/data/a', value: 'j' },
    ]);
    expect(json.body['data']).toEqual({ a: 'j', b: '2' });
    const merge = await patch('patched', 'application/merge-patch+json', { data: { b: null, c: 'm' } });
    expect(merge.body['data']).toEqual({ a: 'j', c: 'm' });
    const strategic = await patch('patched', 'application/strategic-merge-patch+json', {
      data: { $patch: 'replace', only: 's' },
    });
    expect(strategic.body['data']).toEqual({ only: 's' });
    const applied = { ...map('patched', { mine: 'y' }) };
    const apply = await patch('patched', 'application/apply-patch+yaml', applied, '?fieldManager=me');
    expect(apply.body['data']).toEqual({ only: 's', mine: 'y' });
  });

  it('refuses a patch that does not apply, and an unknown patch type', async () => {
    await api.ask('POST', MAPS, { body: map('unpatched') });
    const cases = [
      ['application/json-patch+json', [{ op: 'remove', path: '/data/zzz' }], 422],
      ['application/json-patch+json', { op: 'remove' }, 400],
      ['application/merge-patch+json', '{"data":', 400],
      ['application/merge-patch+json', { data: { a: 1 } }, 422],
      ['text/plain', {}, 415],
    ] as const;
    for (const [type, body, status] of cases) expect((await patch('unpatched', type, body)).status).toBe(status);
  });

  it('refuses an apply of another manager with a conflict, except with force', async () => {
    const apply = (manager: string, value: string, force = false) =>
      patch(
        'shared',
        'application/apply-patch+yaml',
        map('shared', { a: value }),
        `?fieldManager=${manager}${force ? '&force=true' : ''}`,
      );
    expect((await apply('one', '1')).status).toBe(201);
    const refused = await apply('two', '2');
    expect([refused.status, refused.body['reason']]).toEqual([409, 'Conflict']);
    expect(refused.body['message']).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
    expect((await apply('two', '2', true)).body['data']).toEqual({ a: '2' });
  });

  it('loses no increment of many concurrent patches', async () => {
    await api.ask('POST', MAPS, { body: map('counter', {}) });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        patch('counter', 'application/merge-patch+json', { data: { [`k${index}`]: 'x' } }),
      ),
    );
    expect(Object.keys((await api.ask('GET', `${MAPS}/counter`)).body['data'] as JsonObject)).toHaveLength(20);
  });
});

describe('delete', () => {
  it('removes an object at once, or after its finalizers', async () => {
    await api.ask('POST', MAPS, { body: map('gone') });
    const gone = await api.ask('DELETE', `${MAPS}/gone`);
    expect(gone.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'gone', kind: 'configmaps' },
    });
    await api.ask('POST', MAPS, {
      body: { ...map('held'), metadata: { name: 'held', finalizers: ['example.test/hold'] } },
    });
    const held = await api.ask('DELETE', `${MAPS}/held`);
    expect(meta(held.body)['deletionTimestamp']).toBeDefined();
    expect((await api.ask('GET', `${MAPS}/held`)).status).toBe(200);
    await api.ask('PATCH', `${MAPS}/held`, { body: { metadata: { finalizers: null } } });
    expect((await api.ask('GET', `${MAPS}/held`)).status).toBe(404);
  });

  it('marks an object whose grace period ends after the last date', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await api.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
    for (const seconds of [9_999_999_999_999, 9_007_199_254_740_991]) {
      const containers = [{ name: 'a', image: 'b' }];
      const spec = { nodeName: 'n', containers, terminationGracePeriodSeconds: seconds };
      expect((await api.ask('POST', pods, { body: { metadata: { name: 'patient' }, spec } })).status).toBe(201);
      const { status, body } = await api.ask('DELETE', `${pods}/patient`);
      const { deletionTimestamp, deletionGracePeriodSeconds } = body['metadata'] as JsonObject;
      expect([status, deletionGracePeriodSeconds]).toEqual([200, seconds]);
      expect(deletionTimestamp).toMatch(/^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect((await api.ask('DELETE', `${pods}/patient?gracePeriodSeconds=0`)).status).toBe(200);
    }
  });

  it('checks preconditions', async () => {
    const { body } = await api.ask('POST', MAPS, { body: map('exact') });
    const wrong = await api.ask('DELETE', `${MAPS}/exact`, { body: { preconditions: { uid: 'other' } } });
    expect([wrong.status, wrong.body['reason']]).toEqual([409, 'Conflict']);
    const right = await api.ask('DELETE', `${MAPS}/exact`, { body: { preconditions: { uid: meta(body)['uid']! } } });
    expect(right.status).toBe(200);
  });

  it('sets the finalizer of the propagation policy', async () => {
    for (const [policy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ]) {
      await api.ask('POST', MAPS, { body: map('owner') });
      const { body } = await api.ask('DELETE', `${MAPS}/owner?propagationPolicy=${policy}`);
      expect(meta(body)['finalizers']).toEqual([finalizer]);
      await api.ask('PATCH', `${MAPS}/owner`, { body: { metadata: { finalizers: null } } });
    }
  });

  it('deletes the selected objects of a collection', async () => {
    for (const name of ['c1', 'c2', 'c3']) {
      await api.ask('POST', MAPS, {
        body: { ...map(name), metadata: { name, labels: { set: name === 'c3' ? 'no' : 'yes' } } },
      });
    }
    expect((await api.ask('DELETE', `${MAPS}?labelSelector=set=yes`)).status).toBe(200);
    const { body } = await api.ask('GET', `${MAPS}?labelSelector=set`);
    expect((body['items'] as JsonObject[]).map((item) => meta(item)['name'])).toEqual(['c3']);
  });

  it('keeps a namespace until its spec.finalizers are removed', async () => {
    await api.ask('POST', '/api/v1/namespaces', {
      body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'leaving' } },
    });
    const { body } = await api.ask('DELETE', '/api/v1/namespaces/leaving');
    expect(body['status']).toEqual({ phase: 'Terminating' });
    const refused = await api.ask('POST', '/api/v1/namespaces/leaving/configmaps', { body: map('late') });
    expect([refused.status, refused.body['reason']]).toEqual([403, 'Forbidden']);
    const done = await api.ask('PUT', '/api/v1/namespaces/leaving/finalize', {
      body: { ...body, spec: { finalizers: [] } },
    });
    expect(done.status).toBe(200);
    expect((await api.ask('GET', '/api/v1/namespaces/leaving')).status).toBe(404);
  });
});

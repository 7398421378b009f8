import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, ControlPlane, eventually, type Member, NOPEER } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const ALL = 'create delete get list patch update watch';
const OLD = { ...COMMON, 'legacy.io/v1/olds': ALL };
const NEW = { ...COMMON, 'scheduling.io/v1/podgroups': ALL, '/v1/pods/resize': 'get patch' };
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';
const OLDS = '/apis/legacy.io/v1/namespaces/default/olds';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

let plane: ControlPlane;
let a: Member;
let b: Member;

const named = (name: string) => ({ kind: 'X', metadata: { name } });

beforeAll(async () => {
  plane = new ControlPlane();
  [a, b] = await Promise.all([plane.add('a', OLD), plane.add('b', NEW)]);
  plane.storage.put('/api/v1/namespaces/default/pods', named('p'));
  for (const member of [a, b]) {
    await eventually(
      `${member.name} to see its peer`,
      () => plane.ask(member, '/apis', { headers: { Accept: AGGREGATED } }),
      (answer) => answer.text.includes('podgroups') && answer.text.includes('olds'),
    );
  }
});

afterAll(() => plane.close());

describe('two servers of different versions', () => {
  it('both become ready', async () => {
    for (const member of [a, b]) {
      await eventually(
        'readiness',
        () => plane.ask(member, '/readyz?verbose'),
        ({ status }) => status === 200,
      );
      expect((await plane.ask(member, '/livez')).text).toBe('ok');
    }
  });

  it('renew one lease each', () => {
    const names = plane.storage.list(LEASES).map(({ metadata }) => metadata['labels']);
    expect(names).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ 'kubernetes.io/hostname': 'a' }),
        expect.objectContaining({ 'kubernetes.io/hostname': 'b' }),
      ]),
    );
  });

  it('serve each other’s resources: create, get, list, delete, both ways', async () => {
    for (const [member, path] of [
      [a, PODGROUPS],
      [b, OLDS],
    ] as const) {
      expect((await plane.ask(member, path, { method: 'POST', body: named('one') })).status).toBe(201);
      expect((await plane.ask(member, `${path}/one`)).json()).toMatchObject(named('one'));
      expect(plane.names(await plane.ask(member, path))).toEqual(['one']);
      expect((await plane.ask(member, `${path}/none`)).json()).toMatchObject({ kind: 'Status', code: 404 });
      expect((await plane.ask(member, `${path}/one`, { method: 'DELETE' })).status).toBe(200);
    }
  });

  it('reroute a subresource that only the other serves', async () => {
    const answer = await plane.ask(a, '/api/v1/namespaces/default/pods/p/resize', {
      method: 'PATCH',
      body: { cpu: 2 },
    });
    expect(answer.status).toBe(200);
    expect(b.api.requests.some(({ method, url }) => method === 'PATCH' && url.endsWith('/p/resize'))).toBe(true);
  });

  it('reroute watches event by event, and close them at the peer when the client disconnects', async () => {
    const watch = plane.watch(a, `${PODGROUPS}?watch=1`);
    expect(await watch.opened).toBe(200);
    plane.storage.put(PODGROUPS, named('w1') as never);
    await eventually(
      'the first event',
      () => watch.events.length,
      (count) => count === 1,
    );
    plane.storage.put(PODGROUPS, named('w2') as never);
    await eventually(
      'the second event',
      () => watch.events.length,
      (count) => count === 2,
    );
    expect(watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(['ADDED w1', 'ADDED w2']);
    watch.leave();
    plane.storage.remove(PODGROUPS, 'w1');
    plane.storage.remove(PODGROUPS, 'w2');
  });

  it('reply with the 404 of the local server for a resource that no server serves', async () => {
    expect(await plane.ask(a, '/apis/no.io/v1/things')).toMatchObject({ status: 404, text: '404 page not found\n' });
  });

  it('reply 400 to a target with malformed percent-encoding', async () => {
    expect((await plane.ask(a, '/api/v1/%zz')).json()).toMatchObject({ kind: 'Status', code: 400 });
  });
});

describe('merged discovery of two servers', () => {
  const get = (member: Member, headers: Record<string, string>, path = '/apis') => plane.ask(member, path, { headers });

  it('is the same bytes with the same ETag on both', async () => {
    for (const path of ['/apis', '/api']) {
      const [one, two] = await Promise.all([a, b].map((member) => get(member, { Accept: AGGREGATED }, path)));
      expect(one!.text).toBe(two!.text);
      expect(one!.headers['etag']).toBe(two!.headers['etag']);
      expect(one!.headers['content-type']).toContain('APIGroupDiscoveryList');
    }
    expect((await get(a, { Accept: AGGREGATED }, '/api')).text).toContain('resize');
  });

  it('is 304 for a matching ETag, and gzip for clients that accept it', async () => {
    const plain = await get(a, { Accept: AGGREGATED });
    const again = await get(a, { Accept: AGGREGATED, 'If-None-Match': String(plain.headers['etag']) });
    expect(again).toMatchObject({ status: 304, text: '' });
    const zipped = await get(a, { Accept: AGGREGATED, 'Accept-Encoding': 'gzip' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.text).toBe(plain.text);
    expect(zipped.raw.byteLength).toBeLessThan(plain.raw.byteLength);
  });

  it('is the local view for profile=nopeer', async () => {
    const localView = await get(a, { Accept: NOPEER });
    expect(localView.text).toContain('olds');
    expect(localView.text).not.toContain('podgroups');
  });

  it('has the groups of the peer in legacy forms too', async () => {
    const groups = (await get(a, { Accept: 'application/json' })).json<{ groups: { name: string }[] }>();
    expect(groups.groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['legacy.io', 'scheduling.io']));
    const list = await plane.ask(a, '/apis/scheduling.io/v1');
    expect(list.json()).toMatchObject({ kind: 'APIResourceList', resources: [{ name: 'podgroups' }] });
  });

  it('follows changes of the surface of a server within moments', async () => {
    b.api.served = { ...NEW, 'crd.io/v1/widgets': ALL };
    await eventually(
      'the new group',
      () => get(a, { Accept: AGGREGATED }),
      ({ text }) => text.includes('widgets'),
    );
    expect((await plane.ask(a, '/apis/crd.io/v1/widgets')).status).toBe(200);
    b.api.served = NEW;
    await eventually(
      'its end',
      () => get(a, { Accept: AGGREGATED }),
      ({ text }) => !text.includes('widgets'),
    );
    expect((await plane.ask(a, '/apis/crd.io/v1/widgets')).status).toBe(404);
  });
});

describe('identity of a caller through Straddle', () => {
  const last = (member: Member, path: string) => member.api.seen('GET', path).at(-1)!;

  it('of a client certificate reaches the local server and a peer', async () => {
    const jane = plane.certificates.user('jane', 'devs', 'ops');
    await plane.ask(a, '/api/v1/pods', { as: jane });
    expect(last(a, '/api/v1/pods')).toMatchObject({ user: 'jane', groups: ['devs', 'ops'] });
    await plane.ask(a, PODGROUPS, { as: jane });
    expect(last(b, PODGROUPS)).toMatchObject({ user: 'jane', groups: ['devs', 'ops'] });
    expect(last(b, PODGROUPS).headers).toMatchObject({
      'x-kubernetes-peer-proxied': 'true',
      'x-forwarded-for': '127.0.0.1',
    });
  });

  it('of a token is verified by the server that replies', async () => {
    await plane.ask(a, PODGROUPS, { headers: { Authorization: 'Bearer bob-token' } });
    expect(last(b, PODGROUPS)).toMatchObject({ user: 'bob' });
    expect((await plane.ask(a, PODGROUPS, { headers: { Authorization: 'Bearer wrong' } })).status).toBe(401);
  });

  it('is not taken from identity headers of clients', async () => {
    const headers = {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
      'X-Kubernetes-Peer-Proxied': 'true',
    };
    await plane.ask(a, PODGROUPS, { headers: { ...headers, 'X-Forwarded-For': '10.9.9.9' } });
    expect(last(b, PODGROUPS)).toMatchObject({ user: 'system:anonymous' });
    expect(last(b, PODGROUPS).headers['x-remote-group']).toBeUndefined();
    expect(last(b, PODGROUPS).headers['x-forwarded-for']).toBe('127.0.0.1');
    await plane.ask(a, '/api/v1/pods', { headers });
    expect(last(a, '/api/v1/pods')).toMatchObject({ user: 'system:anonymous' });
    expect(last(a, '/api/v1/pods').headers['x-kubernetes-peer-proxied']).toBeUndefined();
  });

  it('is taken from identity headers of a front proxy, and its rerouted request is not rerouted again', async () => {
    const headers = { 'X-Remote-User': 'eve', 'X-Kubernetes-Peer-Proxied': 'true' };
    const before = b.api.requests.length;
    const answer = await plane.ask(a, PODGROUPS, { headers, as: plane.certificates.frontProxy });
    expect(answer.json()).toMatchObject({ kind: 'Status', code: 503 });
    expect(b.api.requests.slice(before).filter(({ url }) => url === PODGROUPS)).toEqual([]);
    await plane.ask(a, '/api/v1/pods', { headers, as: plane.certificates.frontProxy });
    expect(last(a, '/api/v1/pods')).toMatchObject({ user: 'eve' });
  });

  it('decides who may read the metrics page', async () => {
    expect((await plane.ask(a, '/metrics', { headers: { Authorization: 'Bearer nobody-token' } })).status).toBe(403);
    const page = await plane.ask(a, '/metrics', { as: plane.certificates.user('admin') });
    expect(page.text).toContain('apiserver_rerouted_request_total{code="200",group="scheduling.io"');
    expect(page.text).toMatch(/straddle_peer_usable\{peer="b",.*\} 1/);
    expect(page.text).toContain(
      'kubernetes_feature_enabled{name="UnknownVersionInteroperabilityProxy",stage="BETA"} 1',
    );
  });
});

import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGGREGATED, type Answer, ControlPlane, eventually, type Member, NOPEER } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const ALL = 'create delete get list patch update watch';
const NEW = { ...COMMON, 'scheduling.io/v1/podgroups': ALL };
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

let plane: ControlPlane;

beforeEach(() => {
  plane = new ControlPlane();
});

afterEach(() => plane.close());

const named = (name: string) => ({ kind: 'X', metadata: { name } });
const discovery = (member: Member, accept = AGGREGATED) => plane.ask(member, '/apis', { headers: { Accept: accept } });

async function pair(flags: Record<string, string> = {}): Promise<[Member, Member]> {
  const [a, b] = await Promise.all([plane.add('a', COMMON, flags), plane.add('b', NEW, flags)]);
  const sees = (member: Member) =>
    eventually(
      `${member.name} to see its peer`,
      () => plane.ask(member, '/metrics', { as: plane.certificates.user('admin') }),
      ({ text }) => /straddle_peer_usable\{[^}]*\} 1/.test(text),
    );
  await Promise.all([sees(a), sees(b)]);
  await eventually(
    'merged discovery',
    () => discovery(a),
    ({ text }) => text.includes('podgroups'),
  );
  return [a, b];
}

/** The version of podgroups in a discovery document. */
function podgroupsFreshness(answer: Answer): string | undefined {
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: { freshness: string }[] }[] }>();
  return items.find(({ metadata }) => metadata.name === 'scheduling.io')?.versions[0]?.freshness;
}

describe('Straddle before a local API server that is down', () => {
  it('reroutes reads, writes and watches to a peer until the local server is back', async () => {
    const [a, b] = await pair();
    await a.api.stop();
    for (const name of ['one', 'two', 'three']) {
      expect((await plane.ask(a, CONFIGMAPS, { method: 'POST', body: named(name) })).status).toBe(201);
      expect((await plane.ask(a, `${CONFIGMAPS}/${name}`)).status).toBe(200);
    }
    expect(b.api.seen('POST', CONFIGMAPS)).toHaveLength(3);
    const watch = plane.watch(a, `${CONFIGMAPS}?watch=1&resourceVersion=100`);
    await eventually(
      'events',
      () => watch.events.length,
      (count) => count >= 3,
    );
    watch.leave();
    expect((await plane.ask(a, '/version')).status).toBe(200);
    expect((await plane.ask(a, '/readyz')).status).toBe(200);
    expect((await discovery(a, NOPEER)).status).toBe(503);

    await a.api.start();
    const before = a.api.requests.length;
    await eventually(
      'the local server to serve again',
      async () => {
        await plane.ask(a, CONFIGMAPS);
        return a.api.requests.slice(before).some(({ url }) => url === CONFIGMAPS);
      },
      Boolean,
    );
  });
});

describe('the only server of a resource', () => {
  it('departs: 503 and Stale during the grace, then 404', async () => {
    const [a, b] = await pair({ 'departed-grace': '2500ms' });
    await Promise.all([b.api.stop(), b.straddle.close()]);
    const first = await plane.ask(a, PODGROUPS);
    expect(first).toMatchObject({ status: 503 });
    expect(first.headers['retry-after']).toBeDefined();
    expect(first.json<{ message: string }>().message).toContain('podgroups');
    await eventually(
      'Stale in discovery',
      () => discovery(a),
      (answer) => podgroupsFreshness(answer) === 'Stale',
    );
    expect((await plane.ask(a, PODGROUPS)).json<{ message: string }>().message).toMatch(/b.*gone away/);
    const seen = new Set<number>();
    await eventually(
      'the end of the grace period',
      async () => {
        const { status } = await plane.ask(a, PODGROUPS);
        seen.add(status);
        return status;
      },
      (status) => status === 404,
    );
    expect([...seen]).toEqual([503, 404]);
    await eventually(
      'discovery without it',
      () => discovery(a),
      ({ text }) => !text.includes('podgroups'),
    );
  });

  it('departs and returns: its resource is served at once and Current again', async () => {
    const [a, b] = await pair();
    plane.storage.put(PODGROUPS, named('one'));
    await b.api.stop();
    await eventually(
      '503',
      () => plane.ask(a, PODGROUPS),
      ({ status }) => status === 503,
    );
    await eventually(
      'Stale',
      () => discovery(a),
      (answer) => podgroupsFreshness(answer) === 'Stale',
    );
    await b.api.start();
    const answer = await eventually(
      'its return',
      () => plane.ask(a, PODGROUPS),
      ({ status }) => status !== 503,
    );
    expect(plane.names(answer)).toEqual(['one']);
    await eventually(
      'Current',
      () => discovery(a),
      (each) => podgroupsFreshness(each) === 'Current',
    );
  });

  it('is remembered across a restart of Straddle', async () => {
    const a = await plane.add('a', COMMON);
    const b = await plane.add('b', NEW);
    await eventually(
      'the peer',
      () => plane.ask(a, PODGROUPS),
      ({ status }) => status === 200,
    );
    await Promise.all([b.api.stop(), b.straddle.close()]);
    await eventually(
      'Stale',
      () => discovery(a),
      (answer) => podgroupsFreshness(answer) === 'Stale',
    );
    await a.straddle.close();
    a.straddle = await plane.startStraddle('a', a.api, {}, a.log);
    expect((await plane.ask(a, PODGROUPS)).status).toBe(503);
    await eventually(
      'Stale',
      () => discovery(a),
      (answer) => answer.status === 200 && podgroupsFreshness(answer) === 'Stale',
    );
  });

  it('hangs: resources of others are not delayed, and its resource is refused at the request timeout, then at once', async () => {
    const [a, b] = await pair({ 'request-timeout': '6s' });
    b.api.mode = 'hung';
    const waiting = plane.ask(a, PODGROUPS);
    expect((await plane.ask(a, CONFIGMAPS)).status).toBe(200);
    expect((await discovery(a)).text).toContain('podgroups');
    expect((await waiting).json()).toMatchObject({ kind: 'Status', code: 503 });
    expect((await plane.ask(a, PODGROUPS)).status).toBe(503);
    expect((await plane.ask(a, CONFIGMAPS)).status).toBe(200);
  });

  it('sends malformed discovery: its last valid discovery stays in use', async () => {
    const [a, b] = await pair();
    b.api.mode = 'garbage';
    const before = b.api.requests.length;
    await eventually(
      'its nonsense to be read',
      // Where one of the two is nonsense already, the other may not be asked for any more.
      () => b.api.requests.slice(before).filter(({ url }) => url === '/api' || url === '/apis').length,
      (count) => count > 15,
    );
    expect((await plane.ask(a, CONFIGMAPS)).status).toBe(200);
    expect([200, 503]).toContain((await plane.ask(a, PODGROUPS)).status);
    expect((await discovery(a)).text).toContain('podgroups');
  });
});

describe('a rerouted watch', () => {
  it('continues at another peer when the first departs, without lost or repeated events', async () => {
    const a = await plane.add('a', COMMON);
    const b = await plane.add('b', NEW);
    const c = await plane.add('c', NEW);
    await eventually(
      'both peers',
      () => plane.ask(a, '/metrics', { as: plane.certificates.user('admin') }),
      ({ text }) =>
        ['b', 'c'].every((peer) => new RegExp(`straddle_surface_age_seconds\\{server="${peer}"`).test(text)),
    );
    const watch = plane.watch(a, `${PODGROUPS}?watch=1&resourceVersion=${plane.storage.revision}`);
    await watch.opened;
    plane.storage.put(PODGROUPS, named('n0'));
    await eventually(
      'the first event',
      () => watch.events.length,
      (count) => count === 1,
    );
    const serving = [b, c].find(({ api }) => api.requests.some(({ url }) => url.startsWith(`${PODGROUPS}?watch`)))!;
    await Promise.all([serving.api.stop(), serving.straddle.close()]);
    for (let i = 1; i < 5; i++) plane.storage.put(PODGROUPS, named(`n${i}`));
    await eventually(
      'all events',
      () => watch.events.length,
      (count) => count >= 5,
    );
    expect(watch.events.map(({ object }) => object.metadata.name)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    watch.leave();
  });
});

describe('Straddle at a stop', () => {
  it('ends watches in order, deletes the lease, and closes its port', async () => {
    const a = await plane.add('a', COMMON);
    await eventually(
      'the lease',
      () => plane.storage.list(LEASES).length,
      (count) => count === 1,
    );
    const watch = plane.watch(a, `${CONFIGMAPS}?watch=1`);
    await watch.opened;
    await a.straddle.close();
    expect(await watch.ended).toBe(true);
    expect(plane.storage.list(LEASES)).toEqual([]);
    await expect(plane.ask(a, '/livez')).rejects.toThrow(/ECONNREFUSED/);
    await a.straddle.closed;
    expect(a.log.at(-1)).toMatchObject({ msg: 'shutting down' });
    expect(a.log.filter(({ level }) => level !== 'info').map((line) => JSON.stringify(line))).toEqual([]);
  });
});

describe('Straddle with the feature gate off', () => {
  it.each([
    ['by its gate', { 'feature-gates': 'UnknownVersionInteroperabilityProxy=false', 'peer-ca-file': '' }],
    ['for want of a CA', { 'peer-ca-file': '' }],
  ])('%s, everything passes through to the local server, with one warning', async (_, flags) => {
    await plane.add('b', NEW);
    const a = await plane.add('a', COMMON, flags);
    await eventually(
      'the local server',
      () => plane.ask(a, CONFIGMAPS),
      ({ status }) => status === 200,
    );
    expect(await plane.ask(a, PODGROUPS)).toMatchObject({ status: 404, text: '404 page not found\n' });
    const [merged, localView] = [await discovery(a), await discovery(a, NOPEER)];
    expect(merged.text).toBe(localView.text);
    expect(merged.text).not.toContain('podgroups');
    expect(plane.storage.list(LEASES).filter(({ metadata }) => JSON.stringify(metadata).includes('"a"'))).toEqual([]);
    expect(a.log.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect((await plane.ask(a, '/readyz')).status).toBe(200);
  });
});

describe('Straddle with an invalid start', () => {
  const start = (flags: Record<string, string>) => {
    const api = { port: 1 } as never;
    return plane.startStraddle('x', api, flags).then(
      async (server) => {
        await server.close();
        throw new Error('started');
      },
      (error: Error) => error.message,
    );
  };

  it('fails with the file and flag of an unusable certificate', async () => {
    const { write, file, certificates } = { ...plane.certificates, certificates: plane.certificates };
    const other = certificates.user('other');
    for (const [flag, path] of [
      ['tls-cert-file', write('junk.crt', 'junk')],
      ['tls-private-key-file', write('other.key', other.keyPem)],
      ['peer-ca-file', file('missing.crt')],
      ['client-ca-file', write('empty.crt', '')],
    ] as const) {
      const message = await start({ [flag]: path });
      expect(message).toContain(path);
      expect(message).toContain(`--${flag}`);
      expect(message.split('\n')).toHaveLength(1);
    }
  });

  it('fails with the address if its port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    expect(await start({ 'secure-port': String(port) })).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} is in use`));
    await new Promise<void>((resolve) => taken.close(() => resolve()));
  });
});

import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeCa, makeClient, makeServer } from '../../../../http/tls/pki.fixture.js';
import type { KeyEvent } from '../../backend.js';
import { bytes, codeOf, collect, uniquePrefix } from '../../conformance/attempts.fixture.js';
import { CuttableProxy } from './cuttable-proxy.fixture.js';
import { type EtcdBackend, type EtcdOptions, openEtcdBackend } from './etcd-backend.js';
import { type EtcdServer, findEtcd, freePorts, NO_ETCD, startEtcd } from './etcd-server.fixture.js';

const binary = findEtcd() ?? '';
if (binary === '') console.warn(`skipped: the etcd engine's connection tests (${NO_ETCD})`);

/** A member's start takes its time, so few by default. */
const CRASH_ROUNDS = Number(process.env['STRADDLE_CRASH_KILLS'] ?? 2);

const opened: EtcdBackend[] = [];
async function openStore(options: EtcdOptions): Promise<EtcdBackend> {
  const store = await openEtcdBackend(options);
  opened.push(store);
  return store;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/** Calls etcd's administration API in its JSON form. */
async function administer(server: EtcdServer, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${server.endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe.skipIf(binary === '')('the etcd engine and its connections', () => {
  let server: EtcdServer;
  let serverPort: number;
  const proxies: CuttableProxy[] = [];

  beforeAll(async () => {
    server = await startEtcd(binary);
    serverPort = Number(new URL(server.endpoint).port);
  });
  afterAll(() => server.stop());
  afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.close())));

  async function openProxy(): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(serverPort);
    await proxy.open();
    proxies.push(proxy);
    return proxy;
  }

  it('names the endpoint in the error if none can be reached', async () => {
    const [port] = await freePorts(1);
    await expect(openStore({ endpoints: [`http://127.0.0.1:${port}`] })).rejects.toThrow(`127.0.0.1:${port}`);
    expect(await codeOf(openStore({ endpoints: [`http://127.0.0.1:${port}`] }))).toBe('unavailable');
    for (const endpoints of [[], ['127.0.0.1:2379'], ['http://'], ['https://a:b']]) {
      expect(await codeOf(openStore({ endpoints }))).toBe('invalid');
    }
  });

  it('connects to the next endpoint if one does not answer', async () => {
    const [port] = await freePorts(1);
    const store = await openStore({ endpoints: [`http://127.0.0.1:${port}`, server.endpoint] });
    await store.create(`${uniquePrefix()}a`, bytes('x'));
  });

  it('continues reads, writes and watches at another member after the connection is lost', async () => {
    const [first, second] = [await openProxy(), await openProxy()];
    const store = await openStore({ endpoints: [first.endpoint, second.endpoint] });
    const prefix = uniquePrefix();
    const before = await store.create(`${prefix}before`, bytes('x'));
    const events: KeyEvent[] = [];
    const batches = store.watch(prefix, { fromRevision: before.modRevision })[Symbol.asyncIterator]();
    events.push(...(await batches.next()).value!.events);
    proxies.shift();
    await first.close();
    // A write sent on a connection that has just broken would rightly be uncertain; a read is simply repeated.
    expect(await store.get(`${prefix}before`)).toEqual(before);
    const after = await store.create(`${prefix}after`, bytes('x'));
    while (events.length < 2) events.push(...(await batches.next()).value!.events);
    expect(events.map((event) => event.revision)).toEqual([before.modRevision, after.modRevision]);
    expect((await store.list(prefix)).items).toHaveLength(2);
    await batches.return(undefined);
  });

  it('neither loses nor repeats events while its connection is reset repeatedly', async () => {
    const proxy = await openProxy();
    const store = await openStore({ endpoints: [proxy.endpoint] });
    const writer = await openStore({ endpoints: [server.endpoint] });
    const prefix = uniquePrefix();
    const count = 60;
    const collected = collect(store.watch(prefix, { fromRevision: (await store.currentRevision()) + 1 }), {
      events: count,
    });
    const revisions: number[] = [];
    for (let i = 0; i < count; i++) {
      revisions.push((await writer.create(`${prefix}${i}`, bytes('x'))).modRevision);
      if (i % 15 === 7) proxy.cut();
    }
    expect((await collected).events.map((event) => event.revision)).toEqual(revisions);
  });

  it('reports uncertain for a write whose response is lost, and unavailable for a read', async () => {
    const proxy = await openProxy();
    const store = await openStore({ endpoints: [proxy.endpoint], requestTimeoutMs: 400 });
    const key = `${uniquePrefix()}a`;
    proxy.loseAnswers();
    expect(await codeOf(store.create(key, bytes('x')))).toBe('uncertain');
    expect(await codeOf(store.get(key))).toBe('unavailable');
    proxy.loseAnswers(false);
    proxy.cut();
    expect((await store.get(key))?.value).toEqual(bytes('x'));
  });

  it('reads a list in smaller pages if a response is too large', async () => {
    const store = await openStore({ endpoints: [server.endpoint], messageBytesMax: 128 * 1024 });
    const prefix = uniquePrefix();
    await Promise.all(Array.from({ length: 12 }, (_, i) => store.create(`${prefix}${i}`, Buffer.alloc(50_000))));
    const { items, remainingCount } = await store.list(prefix);
    expect(items).toHaveLength(12);
    expect(remainingCount).toBe(0);
    expect((await store.list(prefix, { limit: 5 })).remainingCount).toBe(7);
    await store.create(`${prefix}large`, Buffer.alloc(200_000));
    expect(await codeOf(store.list(prefix))).toBe('too-large');
  });

  it('shares a lease between keys written together, and revokes an unused one', async () => {
    const store = await openStore({ endpoints: [server.endpoint] });
    const leases = async () =>
      ((await administer(server, 'lease/leases', {})) as { leases?: unknown[] }).leases?.length ?? 0;
    const prefix = uniquePrefix();
    const before = await leases();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.create(`${prefix}${i}`, bytes('x'), { ttlSeconds: 3600 })),
    );
    expect(await leases()).toBe(before + 1);
    expect(await codeOf(store.create(`${prefix}0`, bytes('x'), { ttlSeconds: 15 }))).toBe('exists');
    // The return is not waited for by the call.
    while ((await leases()) > before + 1) await new Promise((resolve) => setImmediate(resolve));
  });

  it(
    'serves again after its member was killed and started anew, with all that was acknowledged',
    async () => {
      const member = await startEtcd(binary, { fsync: true });
      onTestFinished(() => member.stop());
      const store = await openStore({ endpoints: [member.endpoint], requestTimeoutMs: 5_000 });
      const prefix = '/kill/';
      const acknowledged = new Map<string, number>();
      const watched = collect(store.watch(prefix, { fromRevision: 2 }), { events: 1 });
      for (let round = 0; round < CRASH_ROUNDS; round++) {
        let storming = true;
        const writers = Array.from({ length: 4 }, async (_, writer) => {
          for (let i = 0; storming; i++) {
            const key = `${prefix}${round}-${writer}-${i}`;
            const outcome = await store.create(key, bytes('x')).catch(() => undefined);
            if (outcome === undefined) return;
            acknowledged.set(key, outcome.modRevision);
          }
        });
        const enough = acknowledged.size + 40;
        while (acknowledged.size < enough) await new Promise((resolve) => setImmediate(resolve));
        const newest = Math.max(...acknowledged.values());
        await member.kill();
        storming = false;
        await Promise.all(writers);
        await member.restart();
        while ((await codeOf(store.currentRevision())) !== 'no error')
          await new Promise((resolve) => setImmediate(resolve));
        expect(await store.currentRevision()).toBeGreaterThanOrEqual(newest);
        const { items } = await store.list(prefix);
        const found = new Map(items.map((item) => [item.key.toString(), item.modRevision]));
        for (const [key, revision] of acknowledged) expect(found.get(key)).toBe(revision);
      }
      expect((await watched).events.length).toBeGreaterThan(0);
    },
    30_000 + CRASH_ROUNDS * 5_000,
  );
});

describe.skipIf(binary === '')('the etcd engine with TLS and authentication', () => {
  it('trusts only the configured CA, and sends its client certificate if etcd requests one', async () => {
    const [ca, stranger] = [makeCa('etcd-ca'), makeCa('stranger')];
    const [serving, client] = [makeServer(ca), makeClient(ca, { cn: 'straddle' })];
    const dataDir = await mkdtemp(join(tmpdir(), 'straddle-etcd-tls-'));
    await Promise.all([
      writeFile(join(dataDir, 'ca.pem'), ca.pem),
      writeFile(join(dataDir, 'server.pem'), serving.pem),
      writeFile(join(dataDir, 'server.key'), serving.keyPem),
    ]);
    const flags = ['--client-cert-auth', '--trusted-ca-file', join(dataDir, 'ca.pem')];
    const files = ['--cert-file', join(dataDir, 'server.pem'), '--key-file', join(dataDir, 'server.key')];
    const server = await startEtcd(binary, { scheme: 'https', dataDir, flags: [...flags, ...files] });
    onTestFinished(() => server.stop());
    const endpoints = [server.endpoint];
    const clientPair = { cert: client.pem, key: client.keyPem };
    const store = await openStore({ endpoints, tls: { ca: ca.pem, ...clientPair } });
    const { modRevision } = await store.create('/tls', bytes('x'));
    await collect(store.watch('/tls', { fromRevision: modRevision }), { events: 1 });
    await expect(openStore({ endpoints, tls: { ca: stranger.pem, ...clientPair } })).rejects.toThrow(/certificate/);
    await expect(openStore({ endpoints, tls: { ca: ca.pem } })).rejects.toThrow(/certificate/);
  });

  it('authenticates, reports denied for wrong credentials or a missing permission, and renews its token', async () => {
    const server = await startEtcd(binary);
    onTestFinished(() => server.stop());
    const endpoints = [server.endpoint];
    const before = await openStore({ endpoints, credentials: { name: 'root', password: 'secret' } });
    await before.create('/before', bytes('authentication is not switched on yet'));
    for (const name of ['root', 'limited']) {
      await administer(server, 'auth/user/add', { name, password: 'secret' });
      await administer(server, 'auth/role/add', { name });
      await administer(server, 'auth/user/grant', { user: name, role: name });
    }
    const perm = { permType: 'READWRITE', key: base64('/allowed/'), range_end: base64('/allowed0') };
    await administer(server, 'auth/role/grant', { name: 'limited', perm });
    await administer(server, 'auth/enable', {});

    const root = await openStore({ endpoints, credentials: { name: 'root', password: 'secret' } });
    expect((await root.get('/before'))?.modRevision).toBe(2);
    expect(await codeOf(openStore({ endpoints }))).toBe('denied');
    expect(await codeOf(openStore({ endpoints, credentials: { name: 'root', password: 'wrong' } }))).toBe('denied');

    const credentials = { name: 'limited', password: 'secret' };
    const limited = await openStore({ endpoints, credentials, probeKey: '/allowed/probe' });
    const created = await limited.create('/allowed/a', bytes('x'));
    expect(await codeOf(limited.get('/before'))).toBe('denied');
    expect(await codeOf(limited.create('/before', bytes('x')))).toBe('denied');
    expect(await codeOf(collect(limited.watch('/before', { fromRevision: 2 }), { events: 1 }))).toBe('denied');
    await collect(limited.watch('/allowed/', { fromRevision: created.modRevision }), { events: 1 });

    // A member started anew knows no old tokens.
    await server.restart();
    await until(() => root.get('/before'));
    expect((await limited.update('/allowed/a', bytes('y'), created.modRevision)).createRevision).toBe(
      created.modRevision,
    );
  });
});

/** Until the member is up again. */
async function until(attempt: () => Promise<unknown>): Promise<void> {
  while ((await codeOf(attempt())) === 'unavailable') await new Promise((resolve) => setImmediate(resolve));
}

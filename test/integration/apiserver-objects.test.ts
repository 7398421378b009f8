import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedBackend } from '../../src/apiserver/storage/engines/embedded/embedded-backend.js';
import type { RunningServer } from '../../src/compose/start-server.js';
import { makeCertificates } from './certificates.js';
import { eventually } from './control-plane.js';
import { startEmbedded, temporaryDirectory } from './embedded-server.js';
import { type Answer, type Ask, ask, sendRaw } from './https-client.js';

interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly labels?: Record<string, string>;
    readonly managedFields?: { manager: string; operation: string }[];
  };
  readonly data?: Record<string, string>;
  readonly items?: KubeObject[];
  readonly reason?: string;
}

const certificates = makeCertificates();
const admin = certificates.user('admin', 'system:masters');
const store = temporaryDirectory();
const temporary = temporaryDirectory();
let server: RunningServer;

beforeAll(async () => {
  server = await startEmbedded(certificates, store.path);
});
afterAll(async () => {
  await server.close();
  store.remove();
  temporary.remove();
  certificates.remove();
});

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const send = (path: string, options: Ask = {}): Promise<Answer> =>
  ask({ port: server.port, ca: certificates.ca.pem }, path, { as: admin, ...options });

async function ok(path: string, options: Ask = {}): Promise<KubeObject> {
  const answer = await send(path, options);
  expect([200, 201], answer.text).toContain(answer.status);
  return answer.json<KubeObject>();
}

const patch = (type: string, body: unknown): Ask => ({ method: 'PATCH', headers: { 'Content-Type': type }, body });

describe('the embedded API server, for objects,', () => {
  it('creates, reads, replaces, patches in every way, applies and deletes an object', async () => {
    const made = await ok(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'one' }, data: { a: '1' } } });
    const path = `${CONFIG_MAPS}/one`;
    expect((await ok(path)).metadata.uid).toBe(made.metadata.uid);

    const replaced = await ok(path, { method: 'PUT', body: { ...made, data: { a: '2', b: '1' } } });
    expect(Number(replaced.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    const stale = await send(path, { method: 'PUT', body: { ...made, data: {} } });
    expect([stale.status, stale.json<KubeObject>().reason]).toEqual([409, 'Conflict']);

    await ok(path, patch('application/merge-patch+json', { data: { a: null, c: '1' } }));
    await ok(path, patch('application/json-patch+json', [{ op: 'add', path: '/data/d', value: '1' }]));
    await ok(path, patch('application/strategic-merge-patch+json', { metadata: { labels: { tier: 'web' } } }));
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { e: '1' } };
    const last = await ok(`${path}?fieldManager=tester`, patch('application/apply-patch+yaml', applied));
    expect(last.data).toEqual({ b: '1', c: '1', d: '1', e: '1' });
    expect(last.metadata.labels).toEqual({ tier: 'web' });
    expect(last.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'tester', operation: 'Apply' }),
    );
    const taken = { ...applied, data: { b: 'mine' } };
    const conflict = await send(`${path}?fieldManager=tester`, patch('application/apply-patch+yaml', taken));
    expect([conflict.status, conflict.json<KubeObject>().reason]).toEqual([409, 'Conflict']);

    expect((await ok(`${CONFIG_MAPS}?labelSelector=tier%3Dweb`)).items).toHaveLength(1);
    expect((await ok(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Dtwo`)).items).toHaveLength(0);
    await ok(path, { method: 'DELETE' });
    expect((await send(path)).status).toBe(404);
  });

  it('pages through a consistent list, and replies 410 after its revision is compacted', async () => {
    for (let i = 0; i < 7; i++) {
      await ok(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: `page-${i}`, labels: { paged: 'yes' } } } });
    }
    const first = await ok(`${CONFIG_MAPS}?limit=3`);
    expect(first.metadata.remainingItemCount).toBe(4);
    await ok(`${CONFIG_MAPS}/page-5`, { method: 'DELETE' });
    const token = encodeURIComponent(first.metadata.continue!);
    const second = await ok(`${CONFIG_MAPS}?limit=3&continue=${token}`);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second.items!.map(({ metadata }) => metadata.name)).toEqual(['page-3', 'page-4', 'page-5']);

    await compactAll();
    const late = await send(`${CONFIG_MAPS}?limit=3&continue=${token}`);
    expect([late.status, late.json<KubeObject>().reason]).toEqual([410, 'Expired']);
    const goOn = encodeURIComponent(late.json<KubeObject>().metadata.continue!);
    const rest = await ok(`${CONFIG_MAPS}?limit=3&continue=${goOn}`);
    expect(rest.items!.map(({ metadata }) => metadata.name)).toEqual(['page-3', 'page-4', 'page-6']);
    const old = await send(
      `${CONFIG_MAPS}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    expect([old.status, old.json<KubeObject>().reason]).toEqual([410, 'Expired']);
  });

  it('refuses a caller without rights before it waits for the body', async () => {
    const head = `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    // The rest of the body never comes; the server closes the connection a few seconds after its reply.
    const received = await sendRaw({ port: server.port, ca: certificates.ca.pem }, head);
    expect(received).toMatch(/^HTTP\/1\.1 403 /);
  }, 20_000);

  it('keeps at most one large reply of a user in memory, and the others wait for it', async () => {
    const memory = await startEmbedded(certificates, temporary.path, {
      'max-held-memory': '1MiB',
      'queue-wait': '300ms',
    });
    try {
      const where = { port: memory.port, ca: certificates.ca.pem };
      const data = { value: 'x'.repeat(300_000) };
      const body = { metadata: { name: 'large' }, data };
      expect((await ask(where, CONFIG_MAPS, { method: 'POST', body, as: admin })).status).toBe(201);
      const settings = { initialWindowSize: 0 };
      const session = connectHttp2(`https://127.0.0.1:${memory.port}`, {
        ...{ ca: certificates.ca.pem, cert: admin.pem, key: admin.keyPem, settings },
      });
      const unread = session.request({ ':path': CONFIG_MAPS });
      await once(unread, 'response');
      expect((await ask(where, CONFIG_MAPS, { as: admin })).status).toBe(429);
      const other = certificates.user('other', 'system:masters');
      expect((await ask(where, CONFIG_MAPS, { as: other })).status).toBe(200);
      session.destroy();
      await eventually(
        'memory',
        async () => (await ask(where, CONFIG_MAPS, { as: admin })).status,
        (status) => status === 200,
      );
    } finally {
      await memory.close();
    }
  });

  it('has all objects after a restart, and continues at the same revision', async () => {
    const made = await ok(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'lasting' }, data: { a: 'é' } } });
    const before = Number((await ok(`${CONFIG_MAPS}?limit=1`)).metadata.resourceVersion);
    await server.close();
    server = await startEmbedded(certificates, store.path);
    expect(await ok(`${CONFIG_MAPS}/lasting`)).toEqual(made);
    const after = await ok(CONFIG_MAPS, { method: 'POST', body: { metadata: { name: 'next' } } });
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(before);
  });
});

/** Does the compaction that runs in the background after minutes. */
async function compactAll(): Promise<void> {
  const backend = await openEmbeddedBackend({
    dataDir: join(store.path, 'store'),
    compaction: { historyMs: 0, historyRevisionsMax: 0 },
  });
  await backend.compact(await backend.currentRevision());
  await backend.close();
}

import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../src/compose/start-server.js';
import { makeCertificates } from './certificates.js';
import { eventually } from './control-plane.js';
import { startEmbedded, temporaryDirectory } from './embedded-server.js';
import { type Answer, type Ask, ask, type SeenEvent, watch } from './https-client.js';

const certificates = makeCertificates();
const admin = certificates.user('admin', 'system:masters');
const store = temporaryDirectory();
const ca = certificates.ca.pem;
let a: RunningServer;
let b: RunningServer;

beforeAll(async () => {
  // Both at once on an empty folder: the first one makes the certificates for both.
  [a, b] = await Promise.all([
    startEmbedded(certificates, store.path, { 'server-name': 'a', 'kubernetes-version': '1.35', 'event-ttl': '1s' }),
    startEmbedded(certificates, store.path, { 'server-name': 'b', 'event-ttl': '1s' }),
  ]);
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  store.remove();
  certificates.remove();
});

const inNamespace = (name: string): string => `/api/v1/namespaces/${name}/configmaps`;

async function makeNamespace(name: string): Promise<string> {
  await ok(a, '/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } });
  return inNamespace(name);
}

async function ok({ port }: RunningServer, path: string, options: Ask = {}): Promise<Answer> {
  const answer = await ask({ port, ca }, path, { as: admin, ...options });
  expect([200, 201], answer.text).toContain(answer.status);
  return answer;
}

const revisionIn = (answer: Answer): string =>
  answer.json<{ metadata: { resourceVersion: string } }>().metadata.resourceVersion;

const told = (events: readonly SeenEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());

const has = (count: number) => (events: readonly SeenEvent[]) => events.length >= count;

describe('watches of the embedded API server', () => {
  it('receive the writes of another server on the same store within milliseconds', async () => {
    const path = await makeNamespace('shared');
    const seen = watch({ port: b.port, ca }, `${path}?watch=1`, admin);
    expect(await seen.opened).toBe(200);
    const delaysMs: number[] = [];
    for (let i = 0; i < 10; i++) {
      await ok(a, path, { method: 'POST', body: { metadata: { name: `made-${i}` } } });
      const writtenMs = performance.now();
      await eventually('the event', () => seen.events, has(i + 1));
      delaysMs.push(performance.now() - writtenMs);
      // Read from the other server right after the write was acknowledged.
      await ok(b, `${path}/made-${i}`);
    }
    expect(Math.min(...delaysMs)).toBeLessThan(100);
    expect(told(seen.events)).toEqual(Array.from({ length: 10 }, (_, i) => `ADDED made-${i}`));
    seen.leave();
  });

  it('begin with the initial events and a bookmark if requested', async () => {
    const path = await makeNamespace('initial');
    for (const name of ['one', 'two']) await ok(a, path, { method: 'POST', body: { metadata: { name } } });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const seen = watch({ port: b.port, ca }, `${path}?${query}`, admin);
    await eventually('the state', () => seen.events, has(3));
    expect(told(seen.events)).toEqual(['ADDED one', 'ADDED two', 'BOOKMARK']);
    const mark = seen.events[2]!.object as unknown as { metadata: { annotations: Record<string, string> } };
    expect(mark.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    await ok(a, path, { method: 'POST', body: { metadata: { name: 'three' } } });
    await eventually('what comes after', () => seen.events, has(4));
    expect(told(seen.events)[3]).toBe('ADDED three');
    seen.leave();
  });

  it('get a bookmark with the latest revision of the store before their timeout', async () => {
    const path = await makeNamespace('quiet');
    const from = revisionIn(await ok(a, path));
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=${from}`;
    const seen = watch({ port: a.port, ca }, `${path}?${query}`, admin);
    await seen.opened;
    const elsewhere = await ok(b, inNamespace('default'), {
      method: 'POST',
      body: { metadata: { name: 'elsewhere' } },
    });
    expect(await seen.ended).toBe(true);
    expect(told(seen.events)).toEqual(['BOOKMARK']);
    expect(Number(seen.events[0]!.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(revisionIn(elsewhere)),
    );
  });

  it('resume at another server from their last revision', async () => {
    const path = await makeNamespace('resumed');
    const from = revisionIn(await ok(a, path));
    await ok(a, path, { method: 'POST', body: { metadata: { name: 'one' } } });
    await ok(b, `${path}/one`, { method: 'DELETE' });
    const seen = watch({ port: b.port, ca }, `${path}?watch=1&resourceVersion=${from}`, admin);
    await eventually('what was', () => seen.events, has(2));
    expect(told(seen.events)).toEqual(['ADDED one', 'DELETED one']);
    seen.leave();
  });

  it('receive the deletion of Events after their TTL', async () => {
    const path = '/api/v1/namespaces/default/events';
    const seen = watch({ port: b.port, ca }, `${path}?watch=1&resourceVersion=0`, admin);
    await seen.opened;
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'x' };
    await ok(a, path, {
      method: 'POST',
      body: { metadata: { name: 'gone-soon', namespace: 'default' }, involvedObject },
    });
    await eventually('the event to go', () => seen.events, has(2));
    expect(told(seen.events)).toEqual(['ADDED gone-soon', 'DELETED gone-soon']);
    expect((await ok(a, path)).json<{ items: unknown[] }>().items).toEqual([]);
    seen.leave();
  });

  it('that are not read use little memory and lose no events', async () => {
    const path = await makeNamespace('slow');
    const text = 'x'.repeat(OBJECT_BYTES);
    const slow = await Promise.all(Array.from({ length: SLOW_WATCHERS }, () => unreadWatch(a.port, path)));
    const before = memoryBytes();
    for (let i = 0; i < OBJECTS; i++) {
      await ok(a, path, { method: 'POST', body: { metadata: { name: `big-${i}` }, data: { text } } });
    }
    // If each watcher had its own queue, this would be OBJECT_BYTES × OBJECTS × SLOW_WATCHERS, about 600 MB.
    expect(memoryBytes() - before).toBeLessThan(200 * 1024 * 1024);
    const [first, ...others] = slow;
    for (const each of others) each.leave();
    const names = await first!.readNames(OBJECTS);
    expect(names).toEqual(Array.from({ length: OBJECTS }, (_, i) => `big-${i}`));
    first!.leave();
  });
});

const OBJECT_BYTES = 500 * 1024;
const OBJECTS = 30;
const SLOW_WATCHERS = 40;

function memoryBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A watch whose client reads only in `readNames`. */
async function unreadWatch(port: number, path: string) {
  const req = request({
    ...{ host: '127.0.0.1', port, ca, cert: admin.pem, key: admin.keyPem, agent: false },
    path: `${path}?watch=1`,
  });
  req.on('error', () => {});
  req.end();
  const res = await new Promise<import('node:http').IncomingMessage>((resolve) => req.on('response', resolve));
  res.pause();
  return {
    leave: () => req.destroy(),
    async readNames(count: number): Promise<string[]> {
      const names: string[] = [];
      let rest = '';
      for await (const chunk of res) {
        const lines = (rest + (chunk as Buffer).toString('latin1')).split('\n');
        rest = lines.pop()!;
        for (const line of lines) names.push((JSON.parse(line) as SeenEvent).object.metadata.name);
        if (names.length >= count) break;
      }
      return names;
    },
  };
}

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../control-plane.js';
import { ask, sendRaw, watch } from '../https-client.js';
import type { HostKind, Subject } from './subject.js';
import { CONFIG_MAPS, type Status, type World } from './world.js';

export function pagesSuite(world: World): void {
  describe('health and metrics pages', () => {
    it('show liveness and readiness with their checks', async () => {
      for (const page of ['/livez', '/readyz', '/healthz']) {
        expect([(await world.ask(page)).status, (await world.ask(page)).text], page).toEqual([200, 'ok']);
      }
      const { text } = await world.ask('/readyz?verbose');
      expect(text).toBe(
        '[+]shutdown ok\n[+]api-server ok\n[+]local-surface ok\n[+]peer-directory ok\nreadyz check passed\n',
      );
    });

    it('show metrics to users that the API server authorizes', async () => {
      expect((await world.ask('/metrics')).status).toBe(403);
      expect((await world.ask('/metrics', { as: world.jane })).status).toBe(403);
      const { text } = await world.ask('/metrics', { as: world.admin });
      expect(text).toMatch(/^apiserver_request_total\{[^}]*code="200"[^}]*\} \d+$/m);
      expect(text).toMatch(/^kubernetes_feature_enabled\{name="UnknownVersionInteroperabilityProxy"[^}]*\} 1$/m);
    });
  });
}

const LARGE_BYTES = 200 * 1024;

export function streamsSuite(world: World): void {
  it('a large reply is compressed only for clients that accept it', async () => {
    const { admin } = world;
    const body = { metadata: { name: 'large' }, data: { text: 'x'.repeat(LARGE_BYTES) } };
    expect((await world.ask(CONFIG_MAPS, { method: 'POST', as: admin, body })).status).toBe(201);
    const plain = await world.ask(`${CONFIG_MAPS}/large`, { as: admin });
    const zipped = await world.ask(`${CONFIG_MAPS}/large`, { as: admin, headers: { 'Accept-Encoding': 'gzip' } });
    expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(zipped.raw.length).toBeLessThan(LARGE_BYTES / 10);
    expect(zipped.text).toBe(plain.text);
    await world.ask(`${CONFIG_MAPS}/large`, { method: 'DELETE', as: admin });
  });

  it('a watch sends each event at once, and ends after its timeout', async () => {
    const { admin } = world;
    const from = (await world.ask(CONFIG_MAPS, { as: admin })).json<{ metadata: { resourceVersion: string } }>();
    const path = `${CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=${from.metadata.resourceVersion}`;
    const seen = watch(world.subject, path, admin);
    expect(await seen.opened).toBe(200);
    await world.ask(CONFIG_MAPS, { method: 'POST', as: admin, body: { metadata: { name: 'seen' } } });
    await eventually(
      'the event',
      () => seen.events,
      (events) => events.length === 1,
      1_000,
    );
    await world.ask(`${CONFIG_MAPS}/seen`, { method: 'DELETE', as: admin });
    expect(await seen.ended).toBe(true);
    expect(seen.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'ADDED seen',
      'DELETED seen',
    ]);
  });
}

const REQUESTS_MAX = 2;

/** Runs on a separate server with low limits, which the last test stops. */
export function endSuite(kind: HostKind, world: World): void {
  describe('limits and shutdown', () => {
    let small: Subject;
    beforeAll(async () => {
      small = await kind.start(world.certificates, {
        'max-requests-in-flight': String(REQUESTS_MAX),
        'max-queued-requests': '1',
        'queue-wait': '200ms',
        'max-header-bytes': '16384',
        'max-headers-count': '50',
        'header-timeout': '400ms',
      });
    });
    afterAll(() => small.close());

    it('reply 431 to too large and to too many headers', async () => {
      const long = `GET /version HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`;
      expect(await sendRaw(small, long)).toMatch(/^HTTP\/1\.1 431 /);
      const many = `GET /version HTTP/1.1\r\nHost: x\r\n${'X-A: a\r\n'.repeat(60)}\r\n`;
      expect(await sendRaw(small, many)).toMatch(/^HTTP\/1\.1 431 /);
    });

    it('close a connection with incomplete headers after --header-timeout', async () => {
      expect(await sendRaw(small, 'GET /version HTTP/1.1\r\nHost: x\r\n')).toMatch(/^(HTTP\/1\.1 408 |$)/);
    });

    it('reply 429 above --max-requests-in-flight, while watches and health pages are served', async () => {
      const { admin } = world;
      const held = await Promise.all(Array.from({ length: REQUESTS_MAX }, () => unreadReply(small, admin)));
      // One may wait, the rest is sent away.
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(small, CONFIG_MAPS, { as: admin })));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(3);
      expect(refused[0]!.headers['retry-after']).toMatch(/^\d+$/);
      expect(refused[0]!.json<Status>().reason).toBe('TooManyRequests');
      expect((await ask(small, '/livez')).status).toBe(200);
      await Promise.all(held.map(({ read }) => read()));
      const watches = Array.from({ length: REQUESTS_MAX + 2 }, () => watch(small, `${CONFIG_MAPS}?watch=1`, admin));
      expect(await Promise.all(watches.map(({ opened }) => opened))).toEqual([200, 200, 200, 200]);
      for (const each of watches) each.leave();
    });

    it('do not count requests that wait for their bodies as in flight', async () => {
      const { admin } = world;
      const held: ReturnType<typeof heldUpload>[] = [];
      // One after another: each has a place in flight until its body is waited for.
      while (held.length < 3 * REQUESTS_MAX) {
        const upload = heldUpload(small, admin);
        held.push(upload);
        await upload.sent;
      }
      for (let i = 0; i < 4; i++) expect((await ask(small, CONFIG_MAPS, { as: admin })).status).toBe(200);
      for (const { finish } of held) finish();
      const statuses = await Promise.all(held.map(({ status }) => status));
      expect(statuses.every((status) => status === 201 || status === 429)).toBe(true);
    });

    it('at a graceful stop end watches in order, complete open requests and refuse new ones', async () => {
      const { admin } = world;
      const seen = watch(small, `${CONFIG_MAPS}?watch=1`, admin);
      expect(await seen.opened).toBe(200);
      const upload = heldUpload(small, admin);
      await upload.sent;
      const drained = small.drain();
      expect(await seen.ended, 'the watch ended in order').toBe(true);
      upload.finish();
      expect(await upload.status).toBe(201);
      // A stop that waited for its whole grace (30 s) would take longer than a test may.
      await drained;
      await expect(ask(small, '/version')).rejects.toThrow(/ECONNREFUSED/);
      expect(small.log.filter(({ level }) => level === 'error')).toEqual([]);
    });
  });
}

/** A request whose reply has begun and waits for its client, until it is read. */
async function unreadReply({ port, ca }: Subject, as: World['admin']) {
  const settings = { initialWindowSize: 0 };
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, cert: as.pem, key: as.keyPem, settings });
  const stream = session.request({ ':path': CONFIG_MAPS });
  await once(stream, 'response');
  const read = async (): Promise<void> => {
    session.settings({ initialWindowSize: 65_535 });
    await once(stream.resume(), 'end');
    session.close();
  };
  return { read };
}

let uploads = 0;

/** A request that has arrived but is not whole until `finish`. */
function heldUpload({ port, ca }: Subject, as: World['admin']) {
  const body = JSON.stringify({ metadata: { name: `held-${uploads++}` } });
  const req = request({
    ...{ host: '127.0.0.1', port, ca, cert: as.pem, key: as.keyPem, agent: false, method: 'POST', path: CONFIG_MAPS },
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      Expect: '100-continue',
    },
  });
  const status = new Promise<number>((resolve, reject) => {
    req.on('response', (res) => resolve(res.resume().statusCode!));
    req.on('error', reject);
  });
  status.catch(() => {});
  // The answer to Expect comes once the request is being worked on.
  const sent = new Promise<void>((resolve, reject) => {
    req.on('continue', resolve);
    status.then((early) => reject(new Error(`answered ${early} before the body was asked for`)), reject);
  });
  req.flushHeaders();
  return { sent, status, finish: () => req.end(body) };
}

import type { ClientRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const ALL = 'create delete get list patch update watch';
const NEW = { ...COMMON, 'scheduling.io/v1/podgroups': ALL, 'scheduling.io/v1/podgroups/exec': 'create get' };
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';

let plane: ControlPlane;
let a: Member;
let b: Member;

beforeAll(async () => {
  plane = new ControlPlane();
  // Long enough that no server departs on a busy machine.
  const patient = { 'peer-gone-after': '30s' };
  [a, b] = await Promise.all([plane.add('a', COMMON, patient), plane.add('b', NEW, patient)]);
  await eventually(
    'the peer',
    () => plane.ask(a, PODGROUPS),
    ({ status }) => status === 200,
  );
});

afterAll(() => plane.close());

const errors = () => [...a.log, ...b.log].filter(({ level }) => level === 'error');

/** An upload in the hands of the test. */
function upload(path: string, headers: Record<string, string>) {
  const req = request({
    ...{ host: '127.0.0.1', port: a.straddle.port, path, method: 'POST' },
    ...{ ca: plane.certificates.ca.pem, agent: false, headers: { 'Content-Type': 'application/json', ...headers } },
  });
  req.on('error', () => {});
  return req;
}

function statusOf(req: ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    req.on('error', reject);
    req.on('response', (res) => resolve(res.resume().statusCode!));
  });
}

describe('a rerouted request', () => {
  it('streams a body of unknown length, and delivers a body of megabytes whole', async () => {
    const filler = 'x'.repeat(3 * 1024 * 1024);
    const body = { metadata: { name: 'large' }, filler };
    expect((await plane.ask(a, PODGROUPS, { method: 'POST', body })).status).toBe(201);
    expect((await plane.ask(a, `${PODGROUPS}/large`)).json<{ filler: string }>().filler).toBe(filler);
    const req = upload(PODGROUPS, { 'Transfer-Encoding': 'chunked' });
    const status = statusOf(req);
    req.write('{"metadata":');
    await eventually(
      'the first bytes to arrive',
      () => b.api.seen('POST', PODGROUPS).length,
      (count) => count === 2,
    );
    req.end('{"name":"chunked"}}');
    expect(await status).toBe(201);
  });

  it('with Expect: 100-continue gets 100 from the first Straddle', async () => {
    const req = upload(PODGROUPS, { Expect: '100-continue', 'Transfer-Encoding': 'chunked' });
    const status = statusOf(req);
    await new Promise<void>((resolve) => {
      req.on('continue', resolve);
      req.flushHeaders();
    });
    req.end('{"metadata":{"name":"expected"}}');
    expect(await status).toBe(201);
  });

  it('of exec switches protocols with the identity of the caller', async () => {
    const jane = plane.certificates.user('jane');
    const { ca } = plane.certificates;
    const socket = connectTls({
      host: '127.0.0.1',
      port: a.straddle.port,
      ca: ca.pem,
      cert: jane.pem,
      key: jane.keyPem,
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const path = `${PODGROUPS}/large/exec?command=ls`;
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nping`);
    await eventually(
      'the echo',
      () => received,
      (text) => text.endsWith('ping'),
    );
    expect(received).toMatch(/^HTTP\/1\.1 101 /);
    expect(b.api.requests.find(({ url }) => url === path)).toMatchObject({ method: 'POST', user: 'jane' });
    socket.destroy();
  });

  it('over HTTP/2 gets the same replies', async () => {
    const session = connectHttp2(`https://127.0.0.1:${a.straddle.port}`, { ca: plane.certificates.ca.pem });
    const ask = (headers: Record<string, string>, body?: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const stream = session.request(headers, { endStream: body === undefined });
        let text = '';
        let status = 0;
        stream.on('response', (fields) => {
          status = fields[':status'] ?? 0;
        });
        stream.on('data', (chunk) => {
          text += chunk;
        });
        stream.on('error', reject);
        stream.on('end', () => resolve({ status, text }));
        if (body !== undefined) stream.end(body);
      });
    const create = { ':method': 'POST', ':path': PODGROUPS, 'content-type': 'application/json' };
    expect((await ask(create, '{"metadata":{"name":"two"}}')).status).toBe(201);
    expect((await ask({ ':path': `${PODGROUPS}/two` })).text).toContain('"two"');
    expect(await ask({ ':path': '/apis/no.io/v1/x' })).toEqual({ status: 404, text: '404 page not found\n' });
    session.destroy();
  });
});

describe('a client that disconnects', () => {
  it.each([
    ['small, so gathered first', { 'Content-Length': '500' }],
    ['large, so streamed', { 'Content-Length': '500000' }],
    ['of unknown length', { 'Transfer-Encoding': 'chunked' }],
  ])(
    'in the middle of its request body (%s) causes no error log, and no partial object is stored',
    async (_, headers) => {
      const before = plane.storage.revision;
      for (const path of [PODGROUPS, '/api/v1/namespaces/default/configmaps']) {
        const req = upload(path, { ...headers, Expect: '100-continue' });
        // Sent when the request is being handled.
        await new Promise<void>((resolve) => req.once('continue', resolve));
        await new Promise<void>((resolve) => req.write('{"metadata":{"name":"half"}', () => resolve()));
        req.destroy();
      }
      const { status } = await plane.ask(a, PODGROUPS);
      expect(status).toBe(200);
      expect(plane.storage.get(PODGROUPS, 'half')).toBeUndefined();
      expect(plane.storage.revision - before).toBeLessThan(3);
      expect(errors()).toEqual([]);
    },
  );

  it('has its watch at the peer closed at once', async () => {
    const open = () => b.api.watching;
    const before = open();
    const watch = plane.watch(a, `${PODGROUPS}?watch=1`);
    await watch.opened;
    await eventually('the watch at the peer', open, (count) => count === before + 1);
    watch.leave();
    await eventually('its end', open, (count) => count === before);
  });
});

import { connect as connectHttp2 } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { sendRaw } from '../https-client.js';
import { CONFIG_MAPS, type Status, type World } from './world.js';

const WEBSOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n';

export function requestsSuite(world: World): void {
  const raw = (bytes: string): Promise<string> => sendRaw(world.subject, bytes, world.admin);
  const statusLine = async (bytes: string): Promise<string> => (await raw(bytes)).split('\r\n', 1)[0]!;

  describe('refused requests', () => {
    it.each([
      ['an object that is not there', 'GET', `${CONFIG_MAPS}/nosuch`, 404, 'NotFound'],
      ['replacing a collection', 'PUT', CONFIG_MAPS, 405, 'MethodNotAllowed'],
      ['patching a collection', 'PATCH', CONFIG_MAPS, 405, 'MethodNotAllowed'],
      ['creating at an object', 'POST', `${CONFIG_MAPS}/x`, 405, 'MethodNotAllowed'],
      ['creating in no namespace', 'POST', '/api/v1/configmaps', 405, 'MethodNotAllowed'],
      ['deleting in all namespaces', 'DELETE', '/api/v1/configmaps', 405, 'MethodNotAllowed'],
      ['a method without a meaning', 'BREW', CONFIG_MAPS, 405, 'MethodNotAllowed'],
    ])('are answered with a Status: %s', async (_what, method, path, code, reason) => {
      const answer =
        method === 'BREW'
          ? await raw(`MOVE ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`).then(parsed)
          : await world.ask(path, { as: world.admin, method, ...(method === 'GET' ? {} : { body: {} }) });
      expect(answer.status).toBe(code);
      expect(JSON.parse(answer.text)).toMatchObject({
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        ...{ code, reason },
      });
    });

    it('are answered with the text page of kube-apiserver for a resource that no server serves', async () => {
      const answer = await world.ask('/apis/nosuch.test/v1/things', { as: world.admin });
      expect([answer.status, answer.text]).toEqual([404, '404 page not found\n']);
    });

    it('are answered with the supported media types for an unsupported one', async () => {
      const output = await world.ask(CONFIG_MAPS, { as: world.admin, headers: { Accept: 'application/xml' } });
      expect([output.status, output.json<Status>().reason]).toEqual([406, 'NotAcceptable']);
      expect(output.json<Status>().message).toContain('application/json');
      const headers = { 'Content-Type': 'text/plain' };
      const input = await world.ask(CONFIG_MAPS, { as: world.admin, method: 'POST', body: '{}', headers });
      expect([input.status, input.json<Status>().reason]).toEqual([415, 'UnsupportedMediaType']);
    });

    it('are answered 400 for a malformed body, and the next request is served', async () => {
      for (const body of ['{"a":', '[]', '"text"']) {
        const answer = await world.ask(CONFIG_MAPS, { as: world.admin, method: 'POST', body });
        expect([answer.status, answer.json<Status>().reason], body).toEqual([400, 'BadRequest']);
      }
      expect((await world.ask(CONFIG_MAPS, { as: world.admin })).status).toBe(200);
    });
  });

  describe('upgrade requests', () => {
    it('for resources without protocol switches get an ordinary reply', async () => {
      expect(await statusLine(`GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\n`)).toBe(
        'HTTP/1.1 200 OK',
      );
      expect(await statusLine(`GET /readyz HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\n`)).toBe('HTTP/1.1 200 OK');
    });

    it('for exec in a missing pod are refused with a Status', async () => {
      const path = '/api/v1/namespaces/default/pods/nosuch/exec?command=ls';
      const answer = parsed(
        await raw(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`),
      );
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text)).toMatchObject({ kind: 'Status', reason: 'NotFound' });
    });

    it('of a user without the right are refused with 403', async () => {
      const path = '/api/v1/namespaces/default/pods/nosuch/exec?command=ls';
      const text = await sendRaw(world.subject, `GET ${path} HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\n`, world.jane);
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
    });
  });

  describe('malformed requests', () => {
    const smuggled = 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    it.each([
      ['two lengths of one body', `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\n${smuggled}`],
      ['a chunk that is none', `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`],
      ['a NUL in a header', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
      ['a bare line feed in a header', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: a\nb: c\r\n\r\n'],
      ['another server as target', 'GET https://elsewhere/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
      ['an escape that is none', 'GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
      ['no HTTP at all', 'hello\r\n\r\n'],
    ])('with %s are answered 400, and the next one is served', async (_what, bytes) => {
      expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 /);
      expect((await world.ask('/version')).status).toBe(200);
    });

    it('with dot segments are not normalized, and an escaped slash is a slash, as in Go servers', async () => {
      const get = (path: string) => statusLine(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await get('/api/v1/../../apis/apps/v1/deployments')).toContain(' 404 ');
      expect(await get('/api/v1/namespaces/default%2fconfigmaps')).toContain(' 200 ');
    });
  });

  it('HTTP/2 clients get the same replies as HTTP/1.1 clients', async () => {
    const { port, ca } = world.subject;
    const { pem: cert, keyPem: key } = world.admin;
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, cert, key });
    const answers = await Promise.all(
      ['/version', `${CONFIG_MAPS}/nosuch`, '/apis/nosuch.test/v1/things'].map(
        (path) =>
          new Promise<number>((resolve, reject) => {
            const stream = session.request({ ':path': path });
            stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
            stream.on('error', reject);
            stream.resume();
          }),
      ),
    );
    expect(answers).toEqual([200, 404, 404]);
    session.destroy();
  });
}

function parsed(text: string): { readonly status: number; readonly text: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), text: rest.join('\r\n\r\n') };
}

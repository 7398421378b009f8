import { connect as connectHttp2 } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { makeCa, makeClient, type TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import { ask, bodyBytes } from '../https-client.js';
import type { Subject } from './subject.js';
import { CONFIG_MAPS, WHO_AM_I, type World } from './world.js';

const GROUPS_COUNT = 2_000;
/** As long as the names of an identity provider; a certificate with all of them is below OpenSSL's 100 KiB. */
const GROUPS = Array.from({ length: GROUPS_COUNT }, (_, i) => `oidc:department-of-platform:${1_000_000 + i}`);
const EXTRAS = Array.from({ length: GROUPS_COUNT }, (_, i) => `scope-${i}`);
const SEND_BLOCK_BYTES = 1024 * 1024;
const WATCH = `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`;

type Headers = Record<string, string | string[]>;
interface Seen {
  readonly status: number;
  readonly text: string;
}
type Send = (
  subject: Subject,
  path: string,
  how: { as?: TestCertificate; headers?: Headers; body?: object },
) => Promise<Seen>;

const PROTOCOLS: readonly (readonly [string, Send])[] = [
  [
    'HTTP/1.1',
    (subject, path, { body, ...how }) => ask(subject, path, { ...how, ...(body && { method: 'POST', body }) }),
  ],
  ['HTTP/2', overHttp2],
];

const CONCURRENT = 60;

/** The head of a request may be as large as at a kube-apiserver where the connection has authenticated. */
export function manyGroupsSuite(world: World): void {
  describe.each(PROTOCOLS)('a user with 2,000 groups over %s', (_, send) => {
    const groupsOf = ({ status, text }: Seen): string[] => {
      expect(status, text.slice(0, 200)).toBe(201);
      return JSON.parse(text).status.userInfo.groups;
    };
    const whoAmI = (how: { as: TestCertificate; headers?: Headers }): Promise<Seen> =>
      send(world.subject, WHO_AM_I, { ...how, body: {} });
    const ways = {
      certificate: {
        as: makeClient(world.certificates.ca, { cn: 'jane', organizations: [...GROUPS, 'system:masters'] }),
      },
      'front proxy': {
        as: world.certificates.frontProxy,
        headers: { 'X-Remote-User': 'jane', 'X-Remote-Group': [...GROUPS, 'system:masters'] },
      },
      impersonation: {
        as: world.admin,
        headers: { 'Impersonate-User': 'jane', 'Impersonate-Group': [...GROUPS, 'system:masters'] },
      },
    };

    it.each(Object.entries(ways))('has all of them, named by a %s', async (_way, how) => {
      expect(groupsOf(await whoAmI(how))).toEqual([...GROUPS, 'system:masters', 'system:authenticated']);
    });

    it.each(Object.entries(ways))('may watch, named by a %s', async (_way, how) => {
      const watched = await send(world.subject, WATCH, how);
      expect([watched.status, watched.text.includes('Failure')], watched.text.slice(0, 200)).toEqual([200, false]);
    });

    it('may have 2,000 extra values too', async () => {
      const headers = { 'X-Remote-User': 'jane', 'X-Remote-Group': GROUPS, 'X-Remote-Extra-Scopes': EXTRAS };
      const seen = await whoAmI({ as: world.certificates.frontProxy, headers });
      expect(groupsOf(seen)).toHaveLength(GROUPS_COUNT + 1);
      expect(JSON.parse(seen.text).status.userInfo.extra.scopes).toEqual(EXTRAS);
    });

    it('is refused without a certificate, or with one that no CA of the server has signed', async () => {
      const headers = { 'X-Remote-User': 'jane', 'X-Remote-Group': GROUPS };
      const stranger = makeClient(makeCa('elsewhere'), { cn: 'front-proxy-client' });
      for (const how of [{ headers }, { headers, as: stranger }]) {
        const { status } = await send(world.subject, '/version', how).catch(refused);
        expect([431, 0]).toContain(status);
      }
    });
  });

  it('a user with 2,000 groups may have tens of requests and watches at once on one HTTP/2 connection', async () => {
    const groups = GROUPS.map((group) => group.padEnd(50, '-'));
    const headers = { 'x-remote-user': 'jane', 'x-remote-group': [...groups, 'system:masters'] };
    const paths = Array.from({ length: CONCURRENT }, (_, i) =>
      i % 2 === 0 ? CONFIG_MAPS : `${CONFIG_MAPS}?watch=1&timeoutSeconds=20`,
    );
    const { subject, certificates } = world;
    const statuses = await statusesOverOneConnection(subject, certificates.frontProxy, headers, paths);
    expect(statuses).toEqual(paths.map(() => 200));
  });
}

/** Sends all requests at once on one HTTP/2 connection; resolves to their statuses when each has its reply. */
async function statusesOverOneConnection(
  { port, ca }: Subject,
  as: TestCertificate,
  headers: Headers,
  paths: readonly string[],
): Promise<number[]> {
  const how = { ca, cert: as.pem, key: as.keyPem, maxSendHeaderBlockLength: SEND_BLOCK_BYTES };
  const session = connectHttp2(`https://127.0.0.1:${port}`, how);
  session.on('error', () => {});
  try {
    return await Promise.all(
      paths.map(
        (path) =>
          new Promise<number>((resolve, reject) => {
            const stream = session.request({ ':path': path, ...headers });
            stream.on('error', reject);
            stream.on('response', ({ ':status': status }) => resolve(status ?? 0));
            stream.resume();
          }),
      ),
    );
  } finally {
    session.destroy();
  }
}

/** HTTP/2 resets the stream of a request with too many fields. */
function refused(error: Error): Seen {
  expect(error.message).toMatch(/ENHANCE_YOUR_CALM|ECONNRESET|EPIPE|socket hang up/);
  return { status: 0, text: '' };
}

function overHttp2(
  { port, ca }: Subject,
  path: string,
  { as, headers, body }: { as?: TestCertificate; headers?: Headers; body?: object },
): Promise<Seen> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ca,
    ...(as && { cert: as.pem, key: as.keyPem }),
    maxSendHeaderBlockLength: SEND_BLOCK_BYTES,
  });
  return new Promise<Seen>((resolve, reject) => {
    session.on('error', reject);
    const fields = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    const head = { ':path': path, ':method': body ? 'POST' : 'GET', ...Object.fromEntries(fields) };
    const stream = session.request(body ? { ...head, 'content-type': 'application/json' } : head);
    let status = 0;
    let text = '';
    stream.on('response', (received) => {
      status = received[':status'] ?? 0;
    });
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.on('error', reject);
    stream.on('end', () => resolve({ status, text }));
    stream.end(body && bodyBytes(body));
  }).finally(() => session.destroy());
}

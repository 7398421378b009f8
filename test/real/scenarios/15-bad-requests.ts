import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { call, type Endpoint } from '../rig/http-client.js';
import { sendRaw, statusesIn } from '../rig/raw-tls.js';
import type { Scenario } from '../scenario.js';
import { newerApi, newerIn, newerPath } from './newer-api.js';

const SMUGGLED = 'GET /api/v1/namespaces/smuggled HTTP/1.1\r\nHost: k\r\n\r\n';

/** Requests that must be refused; the hidden requests in them must never reach a kube-apiserver. */
const refused = (): Readonly<Record<string, string>> => ({
  'both Content-Length and Transfer-Encoding': framed(
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    `0\r\n\r\n${SMUGGLED}`,
  ),
  'two Content-Lengths that differ': framed('Content-Length: 0\r\nContent-Length: 60', SMUGGLED),
  'a Content-Length list': framed('Content-Length: 0, 60', SMUGGLED),
  'a signed Content-Length': framed('Content-Length: +60', SMUGGLED),
  'a chunk size that is none': framed('Transfer-Encoding: chunked', `zz\r\n\r\n${SMUGGLED}`),
  'a chunk with too much in it': framed('Transfer-Encoding: chunked', `1\r\nabcdef\r\n0\r\n\r\n${SMUGGLED}`),
  'an unknown transfer coding': framed('Transfer-Encoding: xchunked', `0\r\n\r\n${SMUGGLED}`),
  'chunked not last': framed('Transfer-Encoding: chunked, identity', `0\r\n\r\n${SMUGGLED}`),
  'a space before the colon': framed('Transfer-Encoding : chunked', `0\r\n\r\n${SMUGGLED}`),
  'NUL in a header': framed('X-Test: a\0b', ''),
  'CR in a header': framed('X-Test: a\rTransfer-Encoding: chunked', `0\r\n\r\n${SMUGGLED}`),
  'a folded header': framed('X-Test: a\r\n Transfer-Encoding: chunked', SMUGGLED),
  'no such version': `GET /api/v1/namespaces HTTP/3.7\r\nHost: k\r\n\r\n`,
  'no Host': `GET /api/v1/namespaces HTTP/1.1\r\n\r\n`,
});

/** Paths that a careless proxy would read differently from the server behind it. */
const oddPaths = (): readonly string[] => [
  '/api/v1/namespaces/kube-system%2fconfigmaps',
  '/api/v1/namespaces/..%2f..%2fv1/nodes',
  '/api/v1//namespaces',
  '/api/v1/./namespaces',
  '/api/v1/namespaces/../nodes',
  '/api/v1/namespaces/%6bube-system',
  `${newerPath()}%2f${newerApi().resource}`,
  '/api/v1/namespaces?labelSelector=a%3Db&&limit=1',
  '/%61pi/v1/namespaces',
];

export const badRequests: Scenario = {
  number: 15,
  name: 'smuggling attempts, odd paths and oversized headers are refused or carried exactly, and nothing is smuggled',
  async run({ plane }) {
    await plane.arrange(layoutOf('default'));
    const positions = plane.all.map(({ kube }) => kube.auditPosition());
    for (const [what, bytes] of Object.entries(refused())) {
      const statuses = statusesIn(await sendRaw(plane.a.straddle.admin, bytes));
      assert.ok(
        statuses.length === 0 || (statuses.length === 1 && statuses[0] === 400),
        `${what}: answered ${statuses.join(', ')}`,
      );
    }
    await absoluteForm(plane);
    await carriesOddPaths(plane);
    await oversizedHeaders(plane);
    const smuggled = plane.all
      .flatMap(({ kube }, index) => kube.auditSince(positions[index] ?? 0))
      .filter(({ requestURI }) => /smuggled|evil/.test(requestURI));
    assert.deepEqual(smuggled, []);
    assert.equal((await call(plane.a.straddle.admin, '/readyz')).status, 200);
  },
};

function framed(headers: string, body: string): string {
  return `POST ${newerIn('default')} HTTP/1.1\r\nHost: k\r\n${headers}\r\n\r\n${body}`;
}

async function absoluteForm(plane: ControlPlane): Promise<void> {
  const answer = await sendRaw(
    plane.a.straddle.admin,
    'GET https://evil.example.test/api/v1/namespaces HTTP/1.1\r\nHost: k\r\nConnection: close\r\n\r\n',
  );
  const [status] = statusesIn(answer);
  assert.ok(status === 400 || status === 200, `absolute form: ${answer.slice(0, 200)}`);
}

async function carriesOddPaths(plane: ControlPlane): Promise<void> {
  for (const path of oddPaths()) {
    const bytes = `GET ${path} HTTP/1.1\r\nHost: k\r\nConnection: close\r\n\r\n`;
    const [through] = statusesIn(await sendRaw(plane.a.straddle.admin, bytes));
    const straight = [plane.a, plane.b].map(async ({ kube }) => statusesIn(await sendRaw(kube.admin, bytes))[0]);
    // A path that names what only B serves, read as B reads it, is answered as by B.
    const allowed = [400, ...(await Promise.all(straight))];
    assert.ok(allowed.includes(through), `${path}: ${through}, not one of ${allowed.join(', ')}`);
  }
}

/** Bounds are larger on a connection with a verified certificate: see docs/reference/limits.md. */
async function oversizedHeaders({ a: { straddle } }: ControlPlane): Promise<void> {
  const callers = [
    { who: 'without a certificate', endpoint: straddle.anonymous, bytes: 300_000, lines: 5_000 },
    { who: 'with a certificate', endpoint: straddle.admin, bytes: 1_200_000, lines: 25_000 },
  ];
  for (const { who, endpoint, bytes, lines } of callers) {
    await refusesHead(endpoint, `one header of ${bytes} bytes, ${who}`, `X-Big: ${'x'.repeat(bytes)}\r\n`);
    // Not to be cut off at a limit, either: the last header may be the one that matters.
    const many = Array.from({ length: lines }, (_, i) => `X-${i}: 1\r\n`).join('');
    await refusesHead(endpoint, `${lines} headers, ${who}`, many);
  }
  assert.equal((await call(straddle.admin, '/api/v1/namespaces')).status, 200);
}

async function refusesHead(endpoint: Endpoint, what: string, headers: string): Promise<void> {
  const statuses = statusesIn(await sendRaw(endpoint, `GET /livez HTTP/1.1\r\nHost: k\r\n${headers}\r\n`));
  assert.ok(statuses.length === 0 || [400, 431].includes(statuses[0] ?? 0), `${what}: answered ${statuses.join(', ')}`);
}

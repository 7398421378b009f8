import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { call, type Endpoint } from '../rig/http-client.js';
import { callHttp2 } from '../rig/http2-client.js';
import type { Scenario } from '../scenario.js';

const GROUPS_COUNT = 2_000;
/** Only the last one has rights, so an answer of 200 shows that it has arrived. */
const GROUPS = Array.from({ length: GROUPS_COUNT }, (_, i) => `oidc:team:${1_000 + i}`);
const LAST_GROUP = GROUPS.at(-1)!;
const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

type Headers = Record<string, string | string[]>;

/** How the server learns of the groups. */
interface Way {
  readonly clientCert: NonNullable<Endpoint['clientCert']>;
  readonly headers: Headers;
}

export const manyGroups: Scenario = {
  number: 46,
  name: 'a user with 2,000 groups gets the same answers as straight: certificate, front proxy, impersonation; local and rerouted',
  async run({ plane, namespace }) {
    await plane.arrange(layoutOf('batch'));
    const ns = await namespace();
    await prepare(plane, ns);
    const maps = `/api/v1/namespaces/${ns}/configmaps`;
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    assert.equal((await call(plane.a.kube.admin, jobs)).status, 404, 'A itself must not serve jobs');
    for (const [name, way] of Object.entries(waysOf(plane))) {
      for (const [protocol, send] of Object.entries(PROTOCOLS)) {
        const what = `${name}, ${protocol}`;
        await sameUser(plane, way, send, what);
        await same({ plane, way, send, what }, 'a', maps);
        await same({ plane, way, send, what }, 'b', jobs);
      }
    }
    await refusedWithoutCertificate(plane);
  },
};

type Send = (endpoint: Endpoint, path: string, headers: Headers, body?: object) => Promise<Seen>;
interface Seen {
  readonly status: number;
  readonly text: string;
}

const PROTOCOLS: Readonly<Record<string, Send>> = {
  'HTTP/1.1': (endpoint, path, headers, body) =>
    call(endpoint, path, { headers, ...(body && { method: 'POST', body }) }),
  'HTTP/2': (endpoint, path, headers, body) =>
    callHttp2(endpoint, path, { headers, ...(body && { method: 'POST', body }) }),
};

function waysOf({ pki }: ControlPlane): Record<string, Way> {
  return {
    certificate: {
      clientCert: pki.ca.issue('many-groups', { commonName: 'grouped', organizations: GROUPS }),
      headers: {},
    },
    'front proxy': {
      clientCert: pki.frontProxyClient,
      headers: { 'x-remote-user': 'grouped', 'x-remote-group': GROUPS },
    },
    impersonation: {
      clientCert: pki.users.admin,
      headers: { 'impersonate-user': 'grouped', 'impersonate-group': GROUPS },
    },
  };
}

async function prepare(plane: ControlPlane, ns: string): Promise<void> {
  const create = (...what: string[]) => plane.kubectl.run({ context: 'raw-b' }, '-n', ns, 'create', ...what);
  await create('role', 'reader', '--verb=get,list,watch', '--resource=configmaps,jobs.batch');
  await create('rolebinding', 'reader', '--role=reader', `--group=${LAST_GROUP}`);
  await create('configmap', 'seen', '--from-literal=a=b');
  await create('job', 'seen', '--image=none.invalid/x');
}

async function sameUser(plane: ControlPlane, way: Way, send: Send, what: string): Promise<void> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const userAt = async (url: string): Promise<{ groups: string[] }> => {
    const { status, text } = await send(endpointOf(plane, way, url), WHO_AM_I, way.headers, review);
    assert.equal(status, 201, `${what}: ${text.slice(0, 300)}`);
    return JSON.parse(text).status.userInfo;
  };
  const straight = await userAt(plane.a.kube.url);
  assert.deepEqual(straight.groups, [...GROUPS, 'system:authenticated'], `${what}: straight`);
  assert.deepEqual(await userAt(plane.a.straddle.url), straight, `${what}: through Straddle`);
}

/** Compares the answers of Straddle A with those of the kube-apiserver that serves the path. */
async function same(
  { plane, way, send, what }: { plane: ControlPlane; way: Way; send: Send; what: string },
  server: 'a' | 'b',
  path: string,
): Promise<void> {
  for (const target of [path, `${path}/seen`, `${path}?watch=1&timeoutSeconds=1`]) {
    const [straight, through] = await Promise.all(
      [plane[server].kube.url, plane.a.straddle.url].map((url) =>
        send(endpointOf(plane, way, url), target, way.headers),
      ),
    );
    assert.equal(straight?.status, 200, `${what}: straight, ${target}: ${straight?.text.slice(0, 300)}`);
    assert.match(straight.text, /"name":"seen"/);
    assert.ok(through);
    assert.deepEqual([through.status, lasting(through)], [straight.status, lasting(straight)], `${what}: ${target}`);
  }
}

/** Without the revision of a list, which grows with every write to etcd. */
function lasting({ text }: Seen): string {
  return text.replace(/^(\{"kind":"\w+List","apiVersion":"[\w./]+","metadata":\{"resourceVersion":")\d+/, '$1');
}

function endpointOf(plane: ControlPlane, { clientCert }: Way, url: string): Endpoint {
  return { url, ca: plane.pki.ca.certPem, clientCert };
}

/** The bounds for connections that have not authenticated stay small: kube-apiserver has one bound for all. */
async function refusedWithoutCertificate(plane: ControlPlane): Promise<void> {
  const nobody = { url: plane.a.straddle.url, ca: plane.pki.ca.certPem };
  const headers = { 'x-remote-user': 'grouped', 'x-remote-group': GROUPS };
  const { status } = await call(nobody, '/version', { headers }).catch((error: NodeJS.ErrnoException) => {
    assert.ok(['ECONNRESET', 'EPIPE'].includes(error.code ?? ''), String(error));
    return { status: 431 };
  });
  assert.equal(status, 431);
  const { text } = await call(plane.a.straddle.admin, '/metrics');
  assert.match(text, /^straddle_limit_hits_total\{limit="max-header(?:-bytes|s-count)"\} [1-9]/m);
}

import assert from 'node:assert/strict';
import { chosenServers } from '../rig/chosen-servers.js';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { within } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import { startTestKubelet, type TestKubelet } from '../rig/kubelet/test-kubelet.js';
import { isSince, WEBSOCKET_TO_KUBELETS_SINCE } from '../rig/version-facts.js';
import type { Scenario } from '../scenario.js';
import { pod } from './pod.js';

const NODE = 'test-kubelet';
const KUBELET_ADDRESS = '127.0.0.41';
/** Well under Straddle's shutdown grace period. */
const ENDS_WITHIN_MS = 10_000;

export const exec: Scenario = {
  number: 12,
  name: 'kubectl exec through a reroute (A’s kube-apiserver down), WebSocket and SPDY, identity preserved',
  async run({ plane, namespace, defer }) {
    await plane.arrange(layoutOf('default'));
    const ns = await namespace();
    const kubelet = await startTestKubelet(KUBELET_ADDRESS, plane.pki);
    defer(() => kubelet.close());
    await registerNode(plane, kubelet);
    defer(() => call(plane.b.kube.admin, `/api/v1/nodes/${NODE}`, { method: 'DELETE' }));
    await runPod(plane, ns);
    await plane.a.kube.stop();

    // The kube-apiserver speaks SPDY to kubelets that do not say they know WebSocket.
    for (const websocket of [true, false]) {
      await execEchoes(plane, ns, websocket);
      assert.equal(kubelet.execs.at(-1)?.protocol, 'spdy');
    }
    const { b, c } = chosenServers();
    if ([b, c].every((version) => isSince(version, WEBSOCKET_TO_KUBELETS_SINCE))) {
      await declareWebSocket(plane);
      await execEchoes(plane, ns, true);
      assert.equal(kubelet.execs.at(-1)?.protocol, 'websocket');
    }
    for (const { path, client } of kubelet.execs) {
      assert.equal(path, `/exec/${ns}/shell/main`);
      assert.equal(client, 'kube-apiserver-kubelet-client');
    }
    const exit = await within('no stream, ended or refused, is left open', ENDS_WITHIN_MS, plane.a.straddle.stop());
    assert.equal(exit?.code, 0);
  },
};

async function execEchoes(plane: ControlPlane, ns: string, websocket: boolean): Promise<void> {
  const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(websocket) };
  const options = { context: 'straddle-a', env };
  const how = websocket ? 'WebSocket' : 'SPDY';
  const capable = [plane.b, plane.c];
  const positions = capable.map(({ kube }) => kube.auditPosition());

  const plain = await plane.kubectl.run(options, '-n', ns, 'exec', 'shell', '--', 'greet', 'you');
  assert.equal(plain, 'ran greet you\n', how);
  const echoed = await plane.kubectl.run(
    { ...options, input: 'one\ntwo\n' },
    '-n',
    ns,
    'exec',
    '-i',
    'shell',
    '--',
    'cat',
  );
  assert.equal(echoed, 'ran cat\none\ntwo\n', how);

  const users = capable
    .flatMap(({ kube }, index) => kube.auditSince(positions[index] ?? 0))
    .filter(({ requestURI }) => requestURI.includes('/pods/shell/exec'))
    .map(({ user }) => user.username);
  assert.ok(users.length >= 2 && users.every((name) => name === 'rig-admin'), `${how}: served as ${users.join(', ')}`);

  const forbidden = await plane.kubectl.try({ ...options, user: 'alice' }, '-n', ns, 'exec', 'shell', '--', 'greet');
  assert.notEqual(forbidden.code, 0);
  assert.match(forbidden.stderr, /User "alice" cannot/, how);
  await upgradeIsForbiddenToAlice(plane, ns, websocket);
}

/** kubectl asks for the pod first and is refused there; this asks for the exec itself. */
async function upgradeIsForbiddenToAlice(plane: ControlPlane, ns: string, websocket: boolean): Promise<void> {
  const upgrade: Record<string, string> = websocket
    ? {
        upgrade: 'websocket',
        'sec-websocket-key': Buffer.alloc(16, 1).toString('base64'),
        'sec-websocket-version': '13',
        'sec-websocket-protocol': 'v5.channel.k8s.io',
      }
    : { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
  const answer = await call(plane.a.straddle.alice, `/api/v1/namespaces/${ns}/pods/shell/exec?command=id&stdout=true`, {
    method: websocket ? 'GET' : 'POST',
    headers: { connection: 'Upgrade', ...upgrade },
  });
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.text, /User \\?"alice\\?" cannot (get|create) resource \\?"pods\/exec/);
}

async function registerNode(plane: ControlPlane, kubelet: TestKubelet): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE },
    status: {
      addresses: [{ type: 'InternalIP', address: kubelet.address }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    },
  };
  await must(plane, 'POST', '/api/v1/nodes', body);
  await must(plane, 'PATCH', `/api/v1/nodes/${NODE}/status`, { status: body.status });
}

async function declareWebSocket(plane: ControlPlane): Promise<void> {
  const status = { declaredFeatures: ['ExtendWebSocketsToKubelet'] };
  await must(plane, 'PATCH', `/api/v1/nodes/${NODE}/status`, { status });
}

async function runPod(plane: ControlPlane, ns: string): Promise<void> {
  const pods = `/api/v1/namespaces/${ns}/pods`;
  await must(plane, 'POST', pods, pod('shell', '10m', NODE));
  const running = { startedAt: new Date().toISOString() };
  await must(plane, 'PATCH', `${pods}/shell/status`, {
    status: {
      phase: 'Running',
      containerStatuses: [
        { name: 'main', image: 'example.test/nothing', imageID: '', ready: true, restartCount: 0, state: { running } },
      ],
    },
  });
}

async function must(plane: ControlPlane, method: string, path: string, body: object): Promise<void> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const answer = await call(plane.b.kube.admin, path, { method, body, headers });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
}

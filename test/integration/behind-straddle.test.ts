import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspect } from '../../src/tools/inspect/inspection.js';
import { statusReport } from '../../src/tools/inspect/status-report.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';
/** The address of the node of b: its Straddle listens there, and its API server on 127.0.0.1 only. */
const NODE = '127.0.0.77';
/** Leases are renewed every 10 s. */
const RENEWED_WITHIN_MS = 25_000;

let plane: ControlPlane;
let a: Member;
let b: Member;

beforeAll(async () => {
  plane = new ControlPlane();
  a = await plane.add('a', COMMON, {}, 'v1.36.4');
  b = await plane.add('b', { ...COMMON, 'scheduling.io/v1/podgroups': 'create get list' }, {}, 'v1.37.1');
  await b.straddle.close();
  const atNode = { upstream: `https://localhost:${b.api.port}`, 'bind-address': '0.0.0.0', 'peer-advertise-ip': NODE };
  b.straddle = await plane.startStraddle('b', b.api, atNode, b.log);
}, 60_000);

afterAll(() => plane.close());

const leaseOf = (name: string) =>
  plane.storage
    .list(LEASES)
    .map(({ metadata }) => metadata as Record<string, Record<string, string> | undefined>)
    .find(({ labels }) => labels?.['kubernetes.io/hostname'] === name);

/** Addresses of b, as a's metrics have them, and whether each is used. */
async function addressesOfB(): Promise<string[]> {
  const { text } = await plane.ask(a, '/metrics', { headers: { Authorization: 'Bearer alice-token' } });
  return [...text.matchAll(/^straddle_peer_usable\{peer="b",address="([^"]+)",kind="([^"]+)"\} ([01])$/gm)].map(
    ([, address, kind, usable]) => `${kind} ${address} ${usable}`,
  );
}

async function statusOf(name: string) {
  const url = `https://127.0.0.1:${a.straddle.port}`;
  const credentials = {
    ca: plane.certificates.ca.pem,
    clientCert: undefined,
    clientKey: undefined,
    token: 'alice-token',
    insecureSkipTlsVerify: false,
  };
  const { servers } = statusReport(await inspect({ url, serverName: '127.0.0.1', credentials, nowMs: Date.now }));
  return servers.filter((each) => each.name === name);
}

describe('an API server that listens on loopback, with its Straddle at another port', () => {
  it('is said to be behind its Straddle, and is reached there', async () => {
    await eventually(
      'the lease of b to say so',
      () => leaseOf('b')?.['annotations']?.['straddle.dev/upstream-listens'],
      (said) => said === 'loopback',
      RENEWED_WITHIN_MS,
    );
    expect(leaseOf('a')?.['annotations']).not.toHaveProperty('straddle.dev/upstream-listens');
    const expected = [`straddle ${NODE}:${b.straddle.port} 1`, `kube-apiserver ${NODE}:${b.api.port} 0`];
    await eventually('a to reach b', addressesOfB, (found) => found.join() === expected.join(), RENEWED_WITHIN_MS);
    const body = { kind: 'X', metadata: { name: 'one' } };
    expect((await plane.ask(a, PODGROUPS, { method: 'POST', body })).status).toBe(201);
    const before = b.log.length;
    expect((await plane.ask(a, `${PODGROUPS}/one`)).status).toBe(200);
    expect(b.log.slice(before).filter(({ level }) => level === 'warn')).toEqual([]);
  }, 60_000);

  it('has one line in straddle status, with its own version', async () => {
    const rows = await statusOf('b');
    expect(rows).toMatchObject([
      { kind: 'straddle sidecar', address: `${NODE}:${b.straddle.port}`, version: 'v1.37.1', health: 'ready' },
    ]);
  });

  it('is dead for peers and for straddle status when it is killed, although its Straddle serves by way of a peer', async () => {
    await b.api.stop();
    const departed = (answer: { status: number; text: string }) => answer.status === 503 && answer.text.includes('b');
    await eventually('what only b served to be 503', () => plane.ask(a, `${PODGROUPS}/one`), departed, 15_000);
    const served = await eventually(
      'b to serve by way of a',
      () => plane.ask(b, '/version'),
      ({ status }) => status === 200,
    );
    expect(served.json()).toMatchObject({ gitVersion: 'v1.36.4' });
    expect((await plane.ask(b, '/readyz')).status).toBe(200);
    const itself = { headers: { 'x-kubernetes-peer-proxied': 'true' } };
    expect((await plane.ask(b, '/version', itself)).status).toBe(503);
    expect(await plane.ask(b, '/readyz', itself)).toMatchObject({
      status: 503,
      text: expect.stringContaining('[-]api-server failed: the local API server takes no requests'),
    });
    const rows = await statusOf('b');
    expect(rows).toMatchObject([
      { version: null, health: 'not ready: api-server failed: the local API server takes no requests' },
    ]);
    await b.api.start();
    await eventually(
      'b to be back',
      () => plane.ask(a, `${PODGROUPS}/one`),
      ({ status }) => status === 200,
      15_000,
    );
    expect(await statusOf('b')).toMatchObject([{ version: 'v1.37.1', health: 'ready' }]);
  }, 60_000);
});

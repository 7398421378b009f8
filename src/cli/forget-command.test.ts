import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import { makeCa, makeServer } from '../http/tls/pki.fixture.js';
import { forget, forgetLeaseName } from './forget-command.js';

const SERVER_TIME = Date.parse('2026-03-01T10:00:00Z');
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

interface Lease {
  metadata: { name: string; resourceVersion?: string; labels?: Record<string, string> };
  spec: Record<string, unknown>;
}

const ca = makeCa('test');
const serving = makeServer(ca);
let server: Server | undefined;

afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

/** A Straddle that is alive, as its identity lease shows it. */
function straddleLease(hostname: string, renewTime = '2026-03-01T09:59:50.000000Z'): [string, Lease] {
  const labels = { 'apiserver.kubernetes.io/identity': 'straddle', 'kubernetes.io/hostname': hostname };
  return [
    `straddle-${hostname}`,
    { metadata: { name: `straddle-${hostname}`, labels }, spec: { leaseDurationSeconds: 40, renewTime } },
  ];
}

const alive = (): Map<string, Lease> => new Map([straddleLease('cp1')]);

interface Api {
  readonly leases: Map<string, Lease>;
  /** Writes answered with a conflict before one succeeds. */
  conflicts?: number;
  forbidden?: boolean;
  /** Names in the metrics; default: cp2. Null: /metrics is forbidden. */
  readonly departed?: readonly string[] | null;
  readonly tokens: string[];
}

/** As much of an API server as leases need, over real TLS. */
async function start(api: Api): Promise<KubeconfigAccess> {
  server = createServer({ key: serving.keyPem, cert: serving.pem }, async (request, response) => {
    api.tokens.push(request.headers.authorization ?? '');
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.url === '/metrics') {
      const { departed = ['cp2'] } = api;
      response.writeHead(departed === null ? 403 : 200);
      const samples = (departed ?? []).map((name) => `straddle_departed_since_seconds{server="${name}"} 1700000000\n`);
      return void response.end(`# TYPE straddle_departed_since_seconds gauge\n${samples.join('')}`);
    }
    const [status, body] = answer(api, request.method ?? '', request.url ?? '', text);
    response.writeHead(status, { 'content-type': 'application/json', date: new Date(SERVER_TIME).toUTCString() });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    context: 'c',
    server: `https://127.0.0.1:${port}`,
    ca: { pem: ca.pem },
    serverName: undefined,
    clientCert: undefined,
    clientKey: undefined,
    token: undefined,
    tokenFile: '/token',
    insecureSkipTlsVerify: false,
  };
}

function answer(api: Api, method: string, url: string, text: string): [number, unknown] {
  if (method === 'GET' && url === LEASES) return [200, { items: [...api.leases.values()] }];
  if (method === 'GET') {
    const lease = api.leases.get(url.slice(LEASES.length + 1));
    return lease ? [200, lease] : [404, { message: 'not found' }];
  }
  if (api.forbidden) return [403, { message: 'leases is forbidden: User "alice" cannot create' }];
  if (api.conflicts && api.conflicts-- > 0) return [409, { message: 'conflict' }];
  const lease = JSON.parse(text) as Lease;
  const current = api.leases.get(lease.metadata.name);
  if ((method === 'POST') === Boolean(current)) return [409, {}];
  if (current && current.metadata.resourceVersion !== lease.metadata.resourceVersion) return [409, {}];
  const version = String(Number(current?.metadata.resourceVersion ?? 0) + 1);
  api.leases.set(lease.metadata.name, { ...lease, metadata: { ...lease.metadata, resourceVersion: version } });
  return [method === 'POST' ? 201 : 200, lease];
}

const surroundings = { readFile: () => 'secret\n', nowMs: () => 0 };

describe('straddle forget', () => {
  it('writes the lease with the time of the server, also over an earlier one', async () => {
    const api: Api = { leases: alive(), tokens: [] };
    const access = await start(api);
    const said = await forget('cp2', { access, namespace: 'kube-system', surroundings });
    expect(said).toContain('to forget cp2 (lease kube-system/straddle-forget-cp2)');
    await forget('cp2', { access, namespace: 'kube-system', surroundings });
    const lease = api.leases.get('straddle-forget-cp2');
    expect(lease?.metadata).toMatchObject({
      resourceVersion: '2',
      labels: { 'apiserver.kubernetes.io/identity': 'straddle-forget' },
    });
    expect(lease?.spec).toEqual({
      holderIdentity: 'cp2',
      leaseDurationSeconds: 3_600,
      renewTime: '2026-03-01T10:00:01.000000Z',
    });
    expect(new Set(api.tokens)).toEqual(new Set(['Bearer secret']));
  });

  it('retries after a conflict, a bounded number of times', async () => {
    const api: Api = { leases: alive(), tokens: [], conflicts: 2 };
    const access = await start(api);
    await forget('cp2', { access, namespace: 'kube-system', surroundings });
    expect([...api.leases.keys()]).toEqual(['straddle-cp1', 'straddle-forget-cp2']);
    api.conflicts = 1_000;
    await expect(forget('cp2', { access, namespace: 'kube-system', surroundings })).rejects.toThrow(/try again/);
  });

  it('fails with the message of the server if the write is forbidden', async () => {
    const access = await start({ leases: alive(), tokens: [], forbidden: true });
    await expect(forget('cp2', { access, namespace: 'kube-system', surroundings })).rejects.toThrow(/403.*alice/);
  });

  it('notes that a server still has a valid lease', async () => {
    const access = await start({ leases: new Map([straddleLease('cp2')]), tokens: [] });
    expect(await forget('cp2', { access, namespace: 'kube-system', surroundings })).toContain(
      'still has a valid lease',
    );
  });

  it('knows a server by a name that is too long for the label of its lease', async () => {
    const long = `${'x'.repeat(70)}.example`;
    const [name, lease] = straddleLease('', '2026-03-01T09:00:00Z');
    const named = { ...lease, metadata: { ...lease.metadata, annotations: { 'straddle.dev/server-name': long } } };
    const access = await start({ leases: new Map([straddleLease('cp1'), [name, named]]), tokens: [] });
    expect(await forget(long, { access, namespace: 'kube-system', surroundings })).toContain(`to forget ${long}`);
  });

  it('rejects for a name that no Straddle knows, and writes nothing', async () => {
    const api: Api = {
      leases: new Map([straddleLease('cp1'), straddleLease('cp4', '2026-03-01T09:00:00Z')]),
      tokens: [],
    };
    const access = await start(api);
    await expect(forget('cp3', { access, namespace: 'kube-system', surroundings })).rejects.toThrow(
      'No Straddle remembers a server cp3: departed: cp2; with a lease: cp1, cp4.',
    );
    expect(api.leases.size).toBe(2);
    // Its lease has expired, so it may have departed.
    expect(await forget('cp4', { access, namespace: 'kube-system', surroundings })).toContain('to forget cp4');
  });

  it('rejects in a cluster without Straddle, and writes nothing', async () => {
    const api: Api = { leases: new Map([straddleLease('cp2', '2026-03-01T09:00:00Z')]), tokens: [] };
    const access = await start(api);
    await expect(forget('cp2', { access, namespace: 'kube-system', surroundings })).rejects.toThrow(
      /^No Straddle has a valid lease in kube-system at https:.*: check --kubeconfig, --context and --namespace\.$/,
    );
    expect(api.leases.size).toBe(1);
  });

  it('notes that the name was not checked if no metrics may be read', async () => {
    const access = await start({ leases: alive(), tokens: [], departed: null });
    expect(await forget('cp3', { access, namespace: 'kube-system', surroundings })).toContain(
      'the name was not checked',
    );
  });

  it('sends no token to a server whose certificate does not verify', async () => {
    const api: Api = { leases: alive(), tokens: [] };
    const access = { ...(await start(api)), ca: undefined };
    await expect(forget('cp2', { access, namespace: 'kube-system', surroundings })).rejects.toThrow(
      /cannot be reached/,
    );
    expect(api.tokens).toEqual([]);
  });

  it('makes valid lease names', () => {
    expect(forgetLeaseName('10.0.0.2:6443')).toBe('straddle-forget-10.0.0.2-6443');
    expect(forgetLeaseName('[fd00::1]:6443')).toBe('straddle-forget-fd00-1-6443');
    expect(forgetLeaseName('CP_1.example.')).toBe('straddle-forget-cp-1.example');
    expect(forgetLeaseName('::')).toBeUndefined();
    expect(forgetLeaseName('x'.repeat(400))!.length).toBe(253);
  });
});

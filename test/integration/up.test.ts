import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shippedVersions } from '../../src/apiserver/surfaces/shipped-versions.js';
import type { PageState } from '../../src/proxy/page/page-state.js';
import { type RunningControlPlane, startControlPlane } from '../../src/tools/plane/control-plane.js';
import { controlSocketPath, isSteered, sendRoll } from '../../src/tools/plane/control-socket.js';
import { planeOptions } from './plane-options.js';
import { runCommand } from './run-command.js';

interface Kubeconfig {
  readonly clusters: readonly { name: string; cluster: { server: string; 'certificate-authority-data': string } }[];
  readonly users: readonly { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

interface Body {
  readonly items?: readonly { metadata: { name: string }; spec: { containers: { command: string[] }[] } }[];
  readonly minor?: string;
  readonly serverAddressByClientCIDRs?: readonly { readonly serverAddress: string }[];
  readonly data?: Readonly<Record<string, string>>;
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-up-'));
const descriptions = join(dir, 'descriptions-1.36.json');
const shown: string[] = [];
const options = planeOptions(dir, {
  restart: true,
  descriptionsFiles: [descriptions],
  progress: (sentence) => shown.push(sentence),
});
const PODGROUPS = '/apis/scheduling.k8s.io/v1alpha2/podgroups';
const PODS = '/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver';
const MAPS = '/api/v1/namespaces/default/configmaps';
let plane: RunningControlPlane;
let agent: Agent;
let config: Kubeconfig;

function connect(): void {
  config = load(readFileSync(plane.kubeconfig, 'utf8')) as Kubeconfig;
  const pem = (base64: string): Buffer => Buffer.from(base64, 'base64');
  const { user } = config.users[0]!;
  agent = new Agent({
    connections: 1,
    connect: {
      ca: pem(config.clusters[0]!.cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    },
  });
}

beforeAll(async () => {
  const tables = { objects: {}, lists: {}, parameters: {}, types: {} };
  const head = { descriptionsFormat: 1, capturedFrom: 'v1.36.4', version: '1.36' };
  writeFileSync(descriptions, JSON.stringify({ ...head, ...tables }));
  plane = await startControlPlane(options);
  connect();
}, 120_000);

afterAll(async () => {
  await agent?.close();
  await plane?.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

async function ask(context: string, path: string, body?: object): Promise<{ status: number; body: Body }> {
  const { server } = config.clusters.find(({ name }) => name === context)!.cluster;
  const answer = await request(server + path, {
    dispatcher: agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Body };
}

const straddle = (...argv: string[]) => runCommand('/nowhere', argv);

async function commands(): Promise<string[][]> {
  const { body } = await ask('front', PODS);
  return body.items!.map(({ spec }) => spec.containers[0]!.command);
}

describe('straddle up', () => {
  it('writes a kubeconfig with a context for the front door and each server, and private keys for the owner only', () => {
    expect(config.clusters.map(({ name }) => name)).toEqual(['front', 'server-1', 'server-2']);
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.35', '1.36']);
    expect(statSync(plane.kubeconfig).mode & 0o077).toBe(0);
    expect(statSync(controlSocketPath(dir)).mode & 0o077).toBe(0);
  });

  it('serves resources of one server through the front door and every server', async () => {
    await expect.poll(async () => (await ask('server-1', PODGROUPS)).status, { timeout: 15_000 }).toBe(200);
    for (const context of ['front', 'server-1', 'server-2', 'front']) {
      expect((await ask(context, PODGROUPS)).status).toBe(200);
    }
  });

  it('has the page of each server, and through the front door always that of the same one', async () => {
    const page = async (context: string) => (await ask(context, '/straddle/api/v1/state')).body as unknown as PageState;
    await expect
      .poll(async () => (await page('server-1')).servers.map(({ state }) => state), { timeout: 15_000 })
      .toEqual(['ready', 'ready']);
    expect([(await page('server-1')).server, (await page('server-2')).server]).toEqual(['server-1', 'server-2']);
    expect([(await page('front')).server, (await page('front')).server]).toEqual(['server-2', 'server-2']);
    const { product, reach, verdict } = await page('front');
    expect(product).toBe('apiserver');
    expect(reach.map(({ reaches }) => reaches)).toEqual([true, true]);
    expect(verdict.sentence).toContain('1 of 2 servers on 1.36, all protected');
  });

  it('creates at one server and reads at another by straddle create and straddle get', async () => {
    const file = join(dir, 'group.yaml');
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    const object = {
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'PodGroup',
      metadata: { generateName: 'g-' },
      spec,
    };
    writeFileSync(file, JSON.stringify(object));
    const run = (...argv: string[]) => straddle(...argv, `--kubeconfig=${plane.kubeconfig}`);
    const made = await run('create', '-f', file, '--context=server-2');
    expect([made.err, made.out]).toEqual([
      '',
      expect.stringMatching(/^podgroups\S+ g-\w+ created through server-2\n$/),
    ]);
    const [, name] = made.out.split(' ');
    const listed = await run('get', 'podgroups.v1alpha2.scheduling.k8s.io', '--context=server-1');
    expect(listed.out).toMatch(new RegExp(`^NAMESPACE +NAME.*\\ndefault +${name} `));
    const one = await run('get', 'podgroups.scheduling.k8s.io', name!, '--context=server-1', '-o=json');
    expect(JSON.parse(one.out)).toMatchObject({ kind: 'PodGroup', metadata: { name } });
    const none = await run('get', 'configmaps', 'nothing', '--context=server-1');
    expect(none.code).toBe(1);
    expect(none.err).toMatch(
      /^straddle: server-1 \(https:.* answered 404 to GET \/api\/v1\/namespaces\/default\/configmaps\/nothing: /,
    );
    expect((await run('get', 'podgroup.v1.nowhere.example', '--context=server-1')).err).toContain(
      'answered 404 to GET /apis/nowhere.example/v1/podgroup: ',
    );
    expect((await run('get', 'configmap')).err).toContain('has no resource configmap. Did you mean configmaps?');
  });

  it('distributes requests to the servers in turn', async () => {
    const addresses = new Set<string>();
    for (let count = 0; count < 4; count++) {
      for (const { serverAddress } of (await ask('front', '/api')).body.serverAddressByClientCIDRs!) {
        addresses.add(serverAddress);
      }
    }
    expect(addresses.size).toBe(2);
  });

  it('shows the version of the oldest server at the front door, and its own at each server', async () => {
    const minor = async (context: string) => (await ask(context, '/version')).body.minor;
    for (let count = 0; count < 4; count++) expect(await minor('front')).toBe('35');
    expect([await minor('server-1'), await minor('server-2')]).toEqual(['35', '36']);
  });

  it('shows each server as a mirror pod with its command line', async () => {
    const { body } = await ask('front', PODS);
    expect(body.items!.map(({ metadata }) => metadata.name)).toEqual([
      'kube-apiserver-server-1',
      'kube-apiserver-server-2',
    ]);
    const [first, second] = await commands();
    expect(first).toContain('--kubernetes-version=1.35');
    expect(second).toContain('--kubernetes-version=1.36');
    expect(first).toContain(`--peer-ca-file=${join(dir, 'pki', 'ca.crt')}`);
  });

  it('gives a descriptions file to the servers of its version only', async () => {
    const given = (await commands()).map((command) => command.includes(`--descriptions-file=${descriptions}`));
    expect(given).toEqual([false, true]);
  });

  it('refuses a port in use with one sentence, and starts nothing', async () => {
    const taken = { ...options, dataDir: join(dir, 'second'), port: Number(plane.front.split(':')[1]) };
    await expect(startControlPlane(taken)).rejects.toThrow(/^Port \d+ of 127\.0\.0\.1 is in use .* --port\.$/);
  });

  it('refuses a data directory that another straddle up uses', async () => {
    await expect(startControlPlane(options)).rejects.toThrow(/is in use by another `straddle up`.*--data-dir\.$/);
  });

  it('refuses a data directory of a newer program, and an unknown version', async () => {
    const newer = mkdtempSync(join(tmpdir(), 'straddle-newer-'));
    writeFileSync(join(newer, 'plane.json'), '{"format": 99, "versions": ["1.40"]}');
    await expect(startControlPlane(planeOptions(newer))).rejects.toThrow(/newer Straddle \(format 99/);
    rmSync(newer, { recursive: true });
    await expect(startControlPlane(planeOptions(join(dir, 'third'), { versions: ['1.2'] }))).rejects.toThrow(
      `--versions: 1.2 does not come with Straddle; ${shippedVersions().join(', ')} do.`,
    );
  });

  it('rolls to another version by straddle roll, one server after the other, while it serves', async () => {
    await ask('front', MAPS, { metadata: { name: 'kept' }, data: { of: '1.35' } });
    const said: string[] = [];
    const stop = { asked: false };
    const wrong: number[] = [];
    const client = (async () => {
      for (let count = 0; !stop.asked; count++) {
        const read = await ask('front', `${MAPS}/kept`);
        const written = await ask('front', MAPS, { metadata: { name: `written-${count}` } });
        wrong.push(...[read, written].flatMap(({ status }) => (status < 300 ? [] : [status])));
      }
    })();
    expect(await sendRoll(controlSocketPath(dir), { to: '1.36' }, (sentence) => said.push(sentence))).toBe(1);
    stop.asked = true;
    await client;
    expect(wrong).toEqual([]);
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.36', '1.36']);
    expect(said[0]).toBe('1/1 server-1: 1.35 → 1.36');
    expect(said[1]).toMatch(/^1\/1 server-1: ready, and every server shows the same APIs after /);
    const [rolled] = await commands();
    expect(rolled).toContain('--kubernetes-version=1.36');
    expect(rolled).toContain(`--descriptions-file=${descriptions}`);
  }, 60_000);

  it('shows a roll also where the control plane runs', () => {
    expect(shown.slice(shown.indexOf('roll: every server to 1.36'))).toEqual([
      'roll: every server to 1.36',
      '1/1 server-1: 1.35 → 1.36',
      expect.stringMatching(/^1\/1 server-1: ready, /),
      'roll: done, 1 server replaced',
    ]);
  });

  it('rejects an invalid roll with the reason', async () => {
    const send = (order: { to: string; server?: string }): Promise<number> =>
      sendRoll(controlSocketPath(dir), order, () => {});
    await expect(send({ to: '1.99' })).rejects.toThrow('--to: 1.99 does not come with Straddle');
    await expect(send({ to: '1.35', server: 'x' })).rejects.toThrow('no server x; there are server-1, server-2');
    await expect(send({ to: '1.36' })).resolves.toBe(0);
  });

  it('serves through the front door when a server is killed, names it, and starts it again', async () => {
    process.kill(plane.servers[0]!.pid!, 'SIGKILL');
    await expect.poll(() => options.notes.join('\n'), { timeout: 10_000 }).toContain('server-1 ended: SIGKILL');
    for (let count = 0; count < 6; count++) expect((await ask('front', '/api/v1/namespaces')).status).toBe(200);
    await expect.poll(() => options.notes.at(-1), { timeout: 30_000 }).toContain('server-1 is back');
  }, 60_000);

  it('keeps data and versions across a restart', async () => {
    await agent.close();
    await plane.close();
    expect(await isSteered(controlSocketPath(dir))).toBe(false);
    const { versions: _, ...rest } = options;
    plane = await startControlPlane({ ...rest, versions: undefined, balance: 'connection' });
    connect();
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.36', '1.36']);
    expect((await ask('front', `${MAPS}/kept`)).body.data).toEqual({ of: '1.35' });
  }, 60_000);

  it('with --balance=connection distributes connections in turn, each to one server', async () => {
    expect(await plane.roll({ to: '1.35', server: 'server-1', progress: () => {} })).toBe(1);
    const minors: (string | undefined)[] = [];
    for (let connection = 0; connection < 4; connection++) {
      await agent.close();
      connect();
      const seen = new Set<string | undefined>();
      for (let count = 0; count < 5; count++) seen.add((await ask('front', '/version')).body.minor);
      expect(seen.size).toBe(1);
      minors.push(...seen);
    }
    expect(minors.filter((minor) => minor === '35')).toHaveLength(2);
  }, 60_000);
});

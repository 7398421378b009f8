import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadSurface } from '../../apiserver/surfaces/load-surface.js';
import { shippedVersions } from '../../apiserver/surfaces/shipped-versions.js';
import { ask, CONFIG_MAPS, POD_GROUPS, SKEW } from './ask.fixture.js';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './index.js';

// Several servers and their clients share one thread, and that may have to share a processor.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { readonly name: string }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: { readonly server: string } }[];
}

describe('a control plane of every shipped version', () => {
  it('reports at /version the release that its surface was captured from', async () => {
    await using plane = await startControlPlane({ versions: [...shippedVersions()], controllers: [] });
    for (const { name, version } of plane.servers) {
      const { gitVersion, major, minor, emulationMinor } = (await ask(plane, name, '/version')).body;
      expect(gitVersion, name).toBe((await loadSurface(version)).capturedFrom);
      expect([`${major}.${minor}`, emulationMinor], name).toEqual([version, minor]);
    }
  });
});

describe('servers of startControlPlane with two versions and the proxy', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ versions: ['1.35', '1.36'], runtimeConfig: [SKEW] });
  });
  afterAll(() => plane.close());

  it('have the names and versions that were requested', async () => {
    expect(plane.servers.map(({ name, version, isRunning }) => ({ name, version, isRunning }))).toEqual([
      { name: 'server-1', version: '1.35', isRunning: true },
      { name: 'server-2', version: '1.36', isRunning: true },
    ]);
    expect((await ask(plane, 'server-1', '/version')).body).toMatchObject({ major: '1', minor: '35' });
    expect((await ask(plane, 'server-2', '/version')).body).toMatchObject({ major: '1', minor: '36' });
  });

  it('reroute to each other from the first request on', async () => {
    for (const where of ['server-1', 'server-2', 'front', 'front']) {
      expect(await ask(plane, where, POD_GROUPS), where).toMatchObject({ status: 200 });
    }
  });

  it('are contexts of the kubeconfig', () => {
    const whole = load(plane.kubeconfig) as Kubeconfig;
    expect(whole['current-context']).toBe('front');
    expect(whole.contexts.map(({ name }) => name)).toEqual(['front', 'server-1', 'server-2']);
    expect(whole.clusters.map(({ cluster }) => cluster.server)).toEqual([
      plane.front.url,
      ...plane.servers.map(({ url }) => url),
    ]);
    const one = load(plane.kubeconfigFor('server-2')) as Kubeconfig;
    expect(one['current-context']).toBe('server-2');
    expect(one.clusters).toEqual([whole.clusters[2]]);
    expect((load(plane.kubeconfigFor('front')) as Kubeconfig).clusters).toEqual([whole.clusters[0]]);
  });

  it('run the controllers that were requested', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default';
    await expect.poll(async () => (await ask(plane, 'front', path)).status, { timeout: 10_000 }).toBe(200);
  });

  it('share nothing with another control plane in the same process', async () => {
    await using other = await startControlPlane({ versions: ['1.36'], controllers: [] });
    const made = await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'here' } });
    expect(made.status).toBe(201);
    expect((await ask(plane, 'server-1', `${CONFIG_MAPS}/here`)).status).toBe(200);
    expect((await ask(other, 'front', `${CONFIG_MAPS}/here`)).body).toMatchObject({ reason: 'NotFound' });
  });

  it.each<[string, (plane: ControlPlane) => unknown, string]>([
    ['kill', (it) => it.kill('server-3'), 'kill: there is no server server-3; there are server-1, server-2.'],
    ['start', (it) => it.start('front'), 'start: there is no server front; there are server-1, server-2.'],
    ['roll', (it) => it.roll({ to: '1.36', server: 'x' }), 'roll: there is no server x; there are server-1, server-2.'],
    [
      'roll',
      (it) => it.roll({ to: '1.12' }),
      `roll: Kubernetes 1.12 does not come with Straddle; ${shippedVersions().join(', ')} do.`,
    ],
    [
      'partition',
      async (it) => it.partition(['front'], ['server-9']),
      'partition: there is no server server-9; there are front, server-1, server-2.',
    ],
    [
      'partition',
      async (it) => it.partition(['server-1'], ['server-2', 'server-1']),
      'partition: server-1 cannot be on both sides.',
    ],
    [
      'kubeconfigFor',
      async (it) => it.kubeconfigFor('a'),
      'kubeconfigFor: there is no server a; there are front, server-1, server-2.',
    ],
  ])('reject invalid arguments of %s with one sentence', async (_, call, sentence) => {
    await expect(call(plane)).rejects.toThrow(new Error(sentence));
  });
});

describe('servers of startControlPlane with two versions and without the proxy', () => {
  it('reply for themselves, with a 404 for resources of the other version', async () => {
    await using plane = await startControlPlane({ versions: ['1.35', '1.36'], runtimeConfig: [SKEW], proxy: false });
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
    expect(await ask(plane, 'server-2', POD_GROUPS)).toMatchObject({ status: 200 });
    const atFront = [await ask(plane, 'front', POD_GROUPS), await ask(plane, 'front', POD_GROUPS)];
    expect(atFront.map(({ status }) => status).sort()).toEqual([200, 404]);
  });
});

describe('startControlPlane with invalid options', () => {
  it.each<[ControlPlaneOptions, string]>([
    [
      { versions: ['1.99'] },
      `versions: Kubernetes 1.99 does not come with Straddle; ${shippedVersions().join(', ')} do.`,
    ],
    [{ versions: [] }, 'versions: give one to 9 of them, one for each server, not 0.'],
    [
      { controllers: ['deployment' as 'namespace'] },
      'controllers: there is no deployment; there are namespace, garbagecollector, serviceaccount.',
    ],
    [{ logLevel: 'loud' as 'info' }, "logLevel: 'loud' is none of silent, error, warn, info, debug."],
    [
      { versions: [1.36 as unknown as string] },
      "versions: 1.36 is a number; write a version as text, as in '1.36' (1.40 is the number 1.4).",
    ],
    [
      { versions: '1.36' as unknown as string[] },
      "versions: give a list with one for each server, as in ['1.36', '1.37'], not '1.36'.",
    ],
    [{ version: ['1.36'] } as ControlPlaneOptions, 'startControlPlane: there is no version; did you mean versions?'],
    [
      { departedGraceMs: 5 } as ControlPlaneOptions,
      'startControlPlane: there is no departedGraceMs; did you mean departedGrace?',
    ],
    [
      { peerGoneAfter: 300 as unknown as string },
      "peerGoneAfter: 300 is no duration; give it with its unit, as in '500ms', '30s' or '1h30m'. Did you mean '300ms'?",
    ],
    [
      { departedGrace: '10 min' },
      "departedGrace: '10 min' is no duration; give it with its unit, as in '500ms', '30s' or '1h30m'.",
    ],
    [{ proxy: 'yes' as unknown as boolean }, "proxy: give true or false, not 'yes'."],
    [
      { runtimeConfig: [true as unknown as string] },
      "runtimeConfig: true is not like 'scheduling.k8s.io/v1alpha2=true'; give text or a list of it.",
    ],
    [
      { runtimeConfig: 'batch/v1=false,apps/v1=perhaps' },
      'runtimeConfig: apps/v1=perhaps is not like batch/v1=false, batch/v1/jobs=false or api/all=true.',
    ],
  ])('rejects %j with one sentence', async (options, sentence) => {
    await expect(startControlPlane(options)).rejects.toThrow(new Error(sentence));
  });

  it('leaves no files behind', async () => {
    const before = leftovers(tmpdir());
    await expect(startControlPlane({ versions: ['1.36', '1.36'], runtimeConfig: ['apps/v1=perhaps'] })).rejects.toThrow(
      /apps\/v1=perhaps/,
    );
    await expect(startControlPlane({ versions: ['1.36'], surfaceRefresh: '1ms' })).rejects.toThrow(
      /^surfaceRefresh is/,
    );
    expect(leftovers(tmpdir()).filter((name) => !before.includes(name))).toEqual([]);
  });
});

describe('ControlPlane.close', () => {
  it('lets the process end by itself, with nothing left on disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'straddle-close-'));
    try {
      const script = fileURLToPath(new URL('./whole-life.fixture.ts', import.meta.url));
      const run = promisify(execFile)(process.execPath, ['--import', 'tsx', script], {
        env: { ...process.env, TMPDIR: folder },
        timeout: 55_000,
      });
      const { stdout, stderr } = await run;
      expect(stderr).toBe('');
      expect(stdout).toBe('started 1\nclosed\n');
      expect(leftovers(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('may be called twice, and ends operations in progress', async () => {
    const plane = await startControlPlane({ versions: ['1.36', '1.36'], controllers: [] });
    const { url } = plane.front;
    const rolling = plane.roll({ to: '1.35' }).catch((error: Error) => error.message);
    const heal = plane.partition(['server-1'], ['server-2'], { connections: 'hang' });
    await Promise.all([plane.close(), plane.close()]);
    expect(await rolling).toMatch(/closed/);
    await heal();
    await expect(plane.kill('server-1')).rejects.toThrow(new Error('kill: this control plane was closed.'));
    await expect(fetch(url)).rejects.toThrow();
  });
});

function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('straddle-testing-'));
}

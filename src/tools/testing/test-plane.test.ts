import { afterEach, describe, expect, it, vi } from 'vitest';
import { settle } from '../../base/manual-clock.fixture.js';
import { ask, CONFIG_MAPS, openWatch, POD_GROUPS, SKEW } from './ask.fixture.js';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './index.js';

// Several servers and their clients share one thread, and that may have to share a processor.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let plane: ControlPlane;
afterEach(() => plane.close());

async function start(options: ControlPlaneOptions): Promise<void> {
  plane = await startControlPlane({ runtimeConfig: [SKEW], controllers: [], ...options });
}

/** Reads and writes at the front door until told to stop; resolves with how often each status came, with the message of an error. */
function traffic(): () => Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  let stopped = false;
  const loop = async (name: string, send: (round: number) => ReturnType<typeof ask>): Promise<void> => {
    for (let round = 0; !stopped; round++) {
      const outcome = await send(round).then(
        ({ status, body }) => (status < 400 ? status : `${status} ${JSON.stringify(body['message'])}`),
        String,
      );
      seen[`${name} ${outcome}`] = (seen[`${name} ${outcome}`] ?? 0) + 1;
      // Servers and clients share one thread: without a break the servers would starve.
      await settle();
    }
  };
  const loops = [
    loop('list', () => ask(plane, 'front', POD_GROUPS)),
    loop('create', (round) => ask(plane, 'front', CONFIG_MAPS, { metadata: { name: `made-${round}` } })),
  ];
  return async () => {
    stopped = true;
    await Promise.all(loops);
    return seen;
  };
}

describe('ControlPlane.roll', () => {
  it('replaces one server after the other without a failed request', async () => {
    await start({ versions: ['1.35', '1.35', '1.36'] });
    const urls = plane.servers.map(({ url }) => url);
    const stop = traffic();
    await plane.roll({ to: '1.36' });
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.36', '1.36', '1.36']);
    await plane.roll({ to: '1.35', server: 'server-1' });
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.35', '1.36', '1.36']);
    const seen = await stop();
    expect(Object.keys(seen).sort()).toEqual(['create 201', 'list 200']);
    expect(plane.servers.map(({ url }) => url)).toEqual(urls);
    expect((await ask(plane, 'server-1', '/version')).body).toMatchObject({ minor: '35' });
    expect((await ask(plane, 'server-1', POD_GROUPS)).status).toBe(200);
  });

  it('starts a killed server in the new version, with the stored objects', async () => {
    await start({ versions: ['1.35'], proxy: false });
    expect((await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'kept' } })).status).toBe(201);
    await plane.kill('server-1');
    await plane.roll({ to: '1.36' });
    expect((await ask(plane, 'front', `${CONFIG_MAPS}/kept`)).status).toBe(200);
    expect((await ask(plane, 'front', '/version')).body).toMatchObject({ minor: '36' });
  });
});

describe('ControlPlane.kill', () => {
  it('cuts open connections and keeps the lease, and resources of the killed server are 503, not 404', async () => {
    await start({ versions: ['1.35', '1.36'] });
    const leases =
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io/identity';
    const leasesBefore = await ask(plane, 'server-1', leases);
    const watch = await openWatch(plane, 'server-2', '/api/v1/pods');
    expect(watch.status).toBe(200);
    await plane.kill('server-2');
    expect(await watch.ended).toBe(false);
    expect(plane.servers[1]).toMatchObject({ isRunning: false, version: '1.36' });
    await expect(ask(plane, 'server-2', '/version')).rejects.toThrow(/ECONNREFUSED/);
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 503 });
    expect(await ask(plane, 'front', POD_GROUPS)).toMatchObject({ status: 503 });
    const names = ({ body }: typeof leasesBefore) =>
      (body['items'] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    expect(names(leasesBefore)).toHaveLength(2);
    expect(names(await ask(plane, 'server-1', leases))).toEqual(names(leasesBefore));

    await plane.kill('server-2');
    await Promise.all([plane.start('server-2'), plane.start('server-2')]);
    expect(plane.servers[1]).toMatchObject({ isRunning: true });
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 200 });
    expect(await ask(plane, 'server-2', POD_GROUPS)).toMatchObject({ status: 200 });
  });

  it('causes a 404 for resources of the killed server only after the grace of departed servers', async () => {
    await start({ versions: ['1.35', '1.36'], peerGoneAfter: '300ms', surfaceRefresh: '100ms', departedGrace: '3s' });
    await plane.kill('server-2');
    const seen = new Set<number>();
    await expect
      .poll(
        async () => {
          const { status } = await ask(plane, 'server-1', POD_GROUPS);
          seen.add(status);
          return status;
        },
        { timeout: 15_000, interval: 20 },
      )
      .toBe(404);
    expect([...seen]).toEqual([503, 404]);
  });
});

describe('ControlPlane.partition', () => {
  it('between two servers causes 503s for resources of the other one until it ends', async () => {
    await start({ versions: ['1.35', '1.36'] });
    // A connection that is there already does not help.
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 200 });
    const heal = plane.partition(['server-1'], ['server-2']);
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 503 });
    expect(await ask(plane, 'server-2', POD_GROUPS)).toMatchObject({ status: 200 });
    // The store is on both sides.
    expect((await ask(plane, 'server-1', CONFIG_MAPS, { metadata: { name: 'seen' } })).status).toBe(201);
    expect((await ask(plane, 'server-2', `${CONFIG_MAPS}/seen`)).status).toBe(200);
    await heal();
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 200 });
    await heal();
  });

  it('cuts only the connections between its sides', async () => {
    await start({ versions: ['1.35', '1.36', '1.36'] });
    const heal = plane.partition(['server-1'], ['server-2']);
    for (let round = 0; round < 4; round++) {
      expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 200 });
    }
    const healBoth = plane.partition(['server-1'], ['server-3']);
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 503 });
    await heal();
    expect(await ask(plane, 'server-1', POD_GROUPS)).toMatchObject({ status: 200 });
    await healBoth();
  });

  it('between front door and a server makes the door use the other servers', async () => {
    await start({ versions: ['1.35', '1.36'], proxy: false });
    const heal = plane.partition(['front'], ['server-1']);
    const minor = async () => (await ask(plane, 'front', '/version')).body['minor'];
    // Only 1.36 has the resource.
    const behind = async () => (await ask(plane, 'front', POD_GROUPS)).status;
    expect([await behind(), await behind(), await behind(), await minor()]).toEqual([200, 200, 200, '36']);
    await heal();
    expect([await behind(), await behind()].sort()).toEqual([200, 404]);
    expect([await minor(), await minor()]).toEqual(['35', '35']);
  });
});

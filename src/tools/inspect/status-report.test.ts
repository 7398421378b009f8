import { afterEach, describe, expect, it } from 'vitest';
import { FakePlane, NOW_MS } from './inspected-plane.fixture.js';
import { inspect } from './inspection.js';
import { statusReport } from './status-report.js';
import { statusText } from './status-text.js';

let plane: FakePlane;

afterEach(() => plane.close());

describe('straddle status', () => {
  it('shows every server with its kind, health, lease, peers and reroutes', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'straddle', version: 'v1.35.8', reroutes: 7, reaches: ['b'] },
      { name: 'b', kind: 'native' },
      { name: 'c', kind: 'plain', version: 'v1.35.8', leaseAgeMs: 7_200_000 },
    );
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers).toMatchObject([
      {
        name: 'a',
        kind: 'straddle sidecar',
        version: 'v1.35.8',
        health: 'ready',
        address: plane.address('a'),
        lease: { name: 'lease-a', expired: false, durationSeconds: 40 },
        peers: [
          { name: 'b', usable: true, surfaceAgeSeconds: 2 },
          { name: 'c', usable: false, surfaceAgeSeconds: null },
        ],
        reroutes: 7,
        surfaceAgeSeconds: 1.5,
      },
      { name: 'b', kind: 'kube-apiserver, native proxy', version: 'v1.36.4', peers: null, reroutes: null },
      { name: 'c', kind: 'kube-apiserver', lease: { expired: true } },
    ]);
    const text = statusText(report, false);
    expect(text).toMatch(/^NAME +KIND +VERSION +HEALTH +UPTIME +LEASE +PEERS +REROUTES +SURFACE\n/);
    expect(text).toMatch(/^a +straddle sidecar +v1\.35\.8 +ready +- +\ds +1\/2 +7 +2s\n/m);
    expect(text).toMatch(/^c .* 2h \(expired\) /m);
    expect(statusText(report, true)).toMatch(/^a .* b, c \(down\) .* 127\.0\.0\.61:\d+ /m);
  });

  it('counts prevented 404s and requests held back with 503 separately', async () => {
    plane = new FakePlane();
    const counted = (how: string, count: number) => `straddle_wrong_404_prevented_total{how="${how}"} ${count}`;
    const metrics = `${counted('rerouted', 5)}\n${counted('held-back', 3)}\n`;
    await plane.start({ name: 'a', kind: 'straddle', metrics }, { name: 'b', kind: 'plain' });
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers).toMatchObject([
      { name: 'a', wrong404sPrevented: 5, heldBack: 3 },
      { name: 'b', wrong404sPrevented: null, heldBack: null },
    ]);
    const text = statusText(report, true);
    expect(text).toMatch(/ 404S PREVENTED {3}HELD BACK {3}/);
    expect(text).toMatch(/^a .* 5 +3 +/m);
  });

  it('shows a server whose protection is switched off, and since when', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle', passthrough: true }, { name: 'b', kind: 'straddle' });
    const report = statusReport(await inspect(plane.door('b')));
    const since = new Date(NOW_MS).toISOString();
    expect(report.servers).toMatchObject([
      { name: 'a', kind: 'straddle sidecar, passthrough', health: 'ready', passthrough: true, passthroughSince: since },
      { name: 'b', kind: 'straddle sidecar', passthrough: false, passthroughSince: null },
    ]);
    expect(statusText(report, false)).toContain(
      `\na: protection is switched off since ${since}; straddle passthrough off switches it on.\n`,
    );
  });

  it('shows a server whose protection is switched off where its metrics have no time, or are not shown', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'straddle', passthrough: true, passthroughSince: 'Infinity' },
      { name: 'b', kind: 'straddle', passthrough: true, forbidden: ['/metrics'] },
      { name: 'c', kind: 'straddle', forbidden: ['/metrics', '/readyz'] },
      { name: 'd', kind: 'plain' },
    );
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers.map(({ passthrough }) => passthrough)).toEqual([true, true, null, null]);
    expect(report.servers.map(({ passthroughSince }) => passthroughSince)).toEqual([null, null, null, null]);
    expect(statusText(report, false)).toContain(
      ['a', 'b']
        .map((name) => `${name}: protection is switched off; straddle passthrough off switches it on.\n`)
        .join(''),
    );
  });

  it.each([
    ['that says so', true],
    ['of an older release', 'older'],
  ] as const)('shows a dead API server behind a Straddle %s, without the version of a peer', async (_, serverDown) => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle', serverDown });
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers[1]).toMatchObject({
      name: 'b',
      kind: 'straddle sidecar',
      version: null,
      uptimeSeconds: null,
      health: 'not ready: api-server failed: the local API server takes no requests',
    });
    expect(statusText(report, false)).toMatch(/^b +straddle sidecar +- +not ready /m);
  });

  it('shows a server that does not answer as a row with the reason', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle', down: true });
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers[1]).toMatchObject({
      name: 'b',
      kind: 'straddle',
      version: null,
      health: 'unreachable: connection refused',
    });
    expect(statusText(report, false)).toContain(`b (${plane.address('b')}): unreachable: connection refused.\n`);
  });

  it('shows the server that replies, and the missing rights, if nothing may be listed', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native', forbidden: ['leases', 'endpointslices', 'pods', '/metrics'] });
    const report = statusReport(await inspect(plane.door('a')));
    expect(report.servers).toMatchObject([{ name: plane.address('a'), kind: 'kube-apiserver, native proxy' }]);
    expect(report.notes).toEqual([
      expect.stringContaining('not allowed to list leases.coordination.k8s.io in kube-system'),
      expect.stringContaining('not allowed to list endpointslices.discovery.k8s.io in default'),
      expect.stringContaining('not allowed to list pods in kube-system'),
      expect.stringContaining('give the servers with --server'),
    ]);
  });

  it('rejects if the server replies 401', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native' });
    const door = { ...plane.door('a'), credentials: { ...plane.credentials, ca: undefined } };
    await expect(inspect(door)).rejects.toThrow(/cannot be reached: certificate signed by unknown authority/);
  });
});

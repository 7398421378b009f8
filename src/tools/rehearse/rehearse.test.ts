import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { until } from '../../base/manual-clock.fixture.js';
import { FakePlane } from './fake-plane.fixture.js';
import { type HalfName, REHEARSAL_DEFAULTS, type RehearsalOptions } from './rehearsal-options.js';
import { rehearse } from './rehearse.js';

function setUp(more: Partial<RehearsalOptions> = {}) {
  const planes: FakePlane[] = [];
  const proxies: boolean[] = [];
  const said: string[] = [];
  let prepare: (plane: FakePlane) => void = () => {};
  const stop = new AbortController();
  const options: RehearsalOptions = {
    ...REHEARSAL_DEFAULTS,
    from: '1.35',
    to: '1.36',
    servers: 2,
    made: 'memory',
    start: async ({ versions, proxy }) => {
      const plane = await FakePlane.start(versions, '1.36');
      prepare(plane);
      planes.push(plane);
      proxies.push(proxy);
      return plane;
    },
    halves: ['off'] as HalfName[],
    secondsPerStep: 0.3,
    settleSeconds: 0.5,
    load: { requestsPerSecond: 100, clients: 2 },
    progress: (sentence) => said.push(sentence),
    signal: stop.signal,
    clock: systemClock,
    ...more,
  };
  return {
    planes,
    proxies,
    said,
    stop,
    run: (each: (plane: FakePlane) => void = () => {}) => {
      prepare = each;
      return rehearse(options);
    },
  };
}

describe('a rehearsal', () => {
  it('rolls every server there and back, the first one to be upgraded last, and closes each plane', async () => {
    const { planes, proxies, run } = setUp({ servers: 3, halves: ['off', 'on'] });
    const { halves, servers, differences, notes, settings } = await run();
    expect(settings).toEqual({
      secondsPerStep: 0.3,
      settleSeconds: 0.5,
      requestsPerSecond: 100,
      clients: 2,
      controllers: 'plain',
      manifests: 0,
      exec: false,
    });
    expect(halves[0]!.steps.flatMap(({ replaces }) => replaces ?? []).slice(0, 3)).toEqual([
      { server: 'server-1', version: '1.36' },
      { server: 'server-1', version: '1.36' },
      { server: 'server-2', version: '1.36' },
    ]);
    expect(differences).toEqual([
      {
        name: 'podgroups.v1alpha2.scheduling.k8s.io',
        servedBy: '1.36',
        exercises: ['requests', 'watches', 'owners', 'namespaces'],
      },
    ]);
    expect(notes).toEqual([]);
    expect(servers).toBe(3);
    expect(proxies).toEqual([false, true]);
    expect(halves.map(({ proxy }) => proxy)).toEqual([false, true]);
    for (const { replaced, closed } of planes) {
      expect(closed).toBe(1);
      expect(replaced).toEqual([
        'server-1 1.36',
        'server-1 1.36',
        'server-2 1.36',
        'server-3 1.36',
        'server-3 1.35',
        'server-2 1.35',
        'server-1 1.35',
      ]);
    }
    expect(halves[0]!.findings.wrong404s).toBeGreaterThan(0);
  });

  it('rolls servers of another version to the first version before it begins', async () => {
    const { planes, said, run } = setUp();
    await run((plane) => {
      plane.servers = plane.servers.map((each) => ({ ...each, version: '1.36' }));
    });
    expect(planes[0]!.replaced.slice(0, 2)).toEqual(['server-1 1.35', 'server-2 1.35']);
    expect(said).toContain('bringing server-1 from 1.36 to 1.35');
  });

  it('rejects with the cause and closes the plane if a server cannot be replaced', async () => {
    const { planes, run } = setUp({ halves: ['off', 'on'] });
    const failure = run((plane) => {
      plane.onReplace = (server, version) => {
        if (server === 'server-2' && version === '1.36') throw new Error('server-2 could not start');
      };
    });
    await expect(failure).rejects.toThrow('server-2 could not start');
    expect(planes.map(({ closed }) => closed)).toEqual([1]);
  });

  it('rejects and closes the plane when it is aborted', async () => {
    const { planes, stop, run } = setUp({ secondsPerStep: 1_000 });
    const running = run();
    await until(() => planes[0] !== undefined && planes[0].requests > 20, 'the load of the first step');
    stop.abort();
    await expect(running).rejects.toThrow(/abort/i);
    expect(planes.map(({ closed }) => closed)).toEqual([1]);
  });

  it('rejects if the versions serve the same resources', async () => {
    const { planes, run } = setUp({ to: '1.37' });
    await expect(run()).rejects.toThrow(
      /^1\.35 and 1\.37 serve the same, so no request can reach a server that lacks something: turn an API on .*--runtime-config/,
    );
    expect(planes.map(({ closed }) => closed)).toEqual([1]);
  });

  it('refuses an object of a kind that neither version serves', async () => {
    const stray = { apiVersion: 'example.com/v1', kind: 'Stray', metadata: { name: 'a' } };
    const { run } = setUp({ manifests: [stray] });
    await expect(run()).rejects.toThrow('Neither 1.35 nor 1.36 serves example.com/v1 Stray a of the manifests.');
  });

  it.each([
    [{ servers: 1 }, /needs 2 servers/],
    [{ to: '1.35' }, /nothing changes/],
  ])('rejects invalid options before anything is started: %o', async (more, sentence) => {
    const { planes, run } = setUp(more);
    await expect(run()).rejects.toThrow(sentence);
    expect(planes).toEqual([]);
  });
});

import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateReport } from '../tools/inspect/gate/gate-report.js';
import { FakePlane, NOW_MS } from '../tools/inspect/inspected-plane.fixture.js';
import { InspectCommands } from './inspect-command.fixture.js';

const plane = new FakePlane();
const commands = new InspectCommands(plane);
const BUNDLES = '/apis/certificates.k8s.io/v1/clustertrustbundles';

beforeAll(async () => {
  const old = { '/v1/pods': 'get list' };
  const young = { ...old, 'certificates.k8s.io/v1/clustertrustbundles': 'get list' };
  await plane.start(
    { name: 'a', kind: 'straddle', version: 'v1.36.4', serves: old },
    { name: 'b', kind: 'straddle', version: 'v1.37.1', serves: young },
  );
  plane.pages.set(BUNDLES, { items: [] });
  commands.writeKubeconfig();
});

afterAll(() => commands.close());

// The clock of the fake servers stands still.
const run = (argv: readonly string[], stdoutIsTerminal = false, environment: Record<string, string> = {}) =>
  commands.run(['gate', ...argv], {
    stdoutIsTerminal,
    environment: { ...commands.environment, ...environment },
    nowMs: () => NOW_MS,
  });

describe('straddle gate', () => {
  it('has help with examples and every reason', async () => {
    const { code, out } = await run(['--help']);
    expect(out).toMatch(/stored is seen only where servers serve storageversions/);
    expect(code).toBe(0);
    expect(out).toContain('$ straddle gate\n');
    expect(out).toContain('sole-server, stale-surface, migration');
    expect(out).toMatch(/--address <address>/);
  });

  it('prints one line for scripts, and the reasons to standard error', async () => {
    const { code, out, err } = await run([]);
    expect(code).toBe(1);
    expect(out).toBe('closed: sole-server\n');
    expect(err).toContain(
      '  sole-server: only b serves clustertrustbundles.v1.certificates.k8s.io\n    \u2192 Replace another',
    );
  });

  it('prints the reasons below the line on a terminal', async () => {
    const { out, err } = await run([], true, { NO_COLOR: '1' });
    expect(out).toMatch(/^closed: sole-server\n {2}sole-server: only b serves .*\n {4}\u2192 .*\n$/);
    expect(err).toBe('');
  });

  it('colors the verdict on a terminal, and never the line for scripts', async () => {
    expect((await run([], true)).out).toMatch(/^\x1b\[31mclosed\x1b\[39m: sole-server\n {2}\x1b\[31msole-server/);
    expect((await run(['--server=a'], true)).out).toBe('\x1b[32mopen\x1b[39m\n');
    const { out, err } = await run([], false, { FORCE_COLOR: '1' });
    expect(out).toBe('closed: sole-server\n');
    expect(err).toContain('\x1b[31msole-server');
  });

  it('is open for the server whose APIs others serve too, and for reasons that are allowed', async () => {
    expect(await run(['--server=a'])).toEqual({ code: 0, out: 'open\n', err: '' });
    expect(await run(['--allow=sole-server'])).toMatchObject({ code: 0, out: 'open (allowed: sole-server)\n' });
  });

  it('prints all of it as JSON and YAML', async () => {
    const { code, out } = await run(['-o', 'json']);
    expect(code).toBe(1);
    const report = JSON.parse(out) as GateReport;
    expect(report).toMatchObject({ verdict: 'closed', for: 'upgrade', server: null, to: null });
    expect(report.reasons).toMatchObject([
      {
        id: 'sole-server',
        verdict: 'closed',
        servers: ['b'],
        resources: ['clustertrustbundles.v1.certificates.k8s.io'],
      },
    ]);
    expect(load((await run(['-o=yaml'])).out)).toEqual(report);
  });

  it('lists what a rollback would lose', async () => {
    expect(await run(['--for=rollback', '--server=b'])).toMatchObject({ code: 0, out: 'open\n' });
    plane.pages.set(BUNDLES, { items: [{ metadata: { name: 'mine' } }] });
    const { code, out, err } = await run(['--for=rollback', '--server=b']);
    plane.pages.set(BUNDLES, { items: [] });
    expect([code, out]).toEqual([1, 'closed: stored-objects\n']);
    expect(err).toContain(
      '  stored-objects: 1 object of clustertrustbundles.v1.certificates.k8s.io, which the servers of 1.36 do not serve, such as mine\n',
    );
  });

  it('takes what comes with Straddle for a version that no server runs', async () => {
    plane.pages.set(BUNDLES, { items: [{ metadata: { name: 'mine' } }] });
    const { code, err } = await run(['--for=rollback', '--to=v1.35', '--allow=sole-server']);
    plane.pages.set(BUNDLES, { items: [] });
    expect(code).toBe(1);
    expect(err).toContain('which 1.35 does not serve by default, such as mine');
  });

  it('waits until the gate is open, and says what it waits for', async () => {
    let looks = 0;
    plane.pages.set(BUNDLES, () => ({ items: looks++ === 0 ? [{ metadata: { name: 'mine' } }] : [] }));
    const { code, out, err } = await run(['--for=rollback', '--wait', '--timeout=1h']);
    expect([code, out]).toEqual([0, 'open\n']);
    expect(err).toContain('waiting, closed: stored-objects\n  stored-objects: 1 object of');
    expect(looks).toBe(2);
  });

  it('exits with 2 if nobody answers, with a report all the same', async () => {
    const { code, out, err } = await run(['--context=gone']);
    expect([code, out]).toEqual([2, 'unknown: servers\n']);
    expect(err).toContain('not known, servers: https://127.0.0.99:9 cannot be reached: connection refused\n');
    const report = JSON.parse((await run(['--context=gone', '-o', 'json'])).out) as GateReport;
    expect(report.verdict).toBe('unknown');
  });

  it.each([
    [
      ['--kubeconfig=/nowhere/config'],
      'The kubeconfig /nowhere/config cannot be read (no such file or directory, ENOENT)',
    ],
    [['--to=1.36'], '--to is for --for=rollback.'],
    [['--timeout=1m'], '--timeout is for --wait: give both, or neither.'],
    [['--wait', '--timeout=soon'], 'Give a duration from 1s to 24h, such as 10m.'],
    [['--allow=everything'], 'Reasons are servers, unreachable,'],
    [['--for=fun'], 'Allowed choices are upgrade, rollback.'],
    [['--for=rollback', '--to=36'], 'Give a minor version, such as'],
    [['--address=nonsense'], 'Give it as host:port'],
    [['--nonsense'], 'Unknown flag --nonsense.'],
  ])('%s fails with one sentence and exit code 2', async (argv, sentence) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(sentence);
  });
});

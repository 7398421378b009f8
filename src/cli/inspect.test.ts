import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../tools/inspect/check-report.js';
import { FakePlane, NOW_MS } from '../tools/inspect/inspected-plane.fixture.js';
import { InspectCommands } from './inspect-command.fixture.js';

const plane = new FakePlane();
const commands = new InspectCommands(plane);

beforeAll(async () => {
  await plane.start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle', gate: false });
  commands.writeKubeconfig();
});

afterAll(() => commands.close());

const run = (...argv: string[]) => commands.run(argv);

describe('straddle status, diff and check', () => {
  it.each(['status', 'diff', 'check'])('%s has help with examples', async (command) => {
    const { code, out } = await run(command, '--help');
    expect(code).toBe(0);
    expect(out).toContain(`$ straddle ${command}\n`);
    expect(out).toMatch(/-o, --output <form>/);
  });

  it('print the same report as table and as JSON', async () => {
    const { out } = await run('status', '-o', 'json');
    const report = JSON.parse(out) as { servers: { name: string }[] };
    expect(report.servers.map(({ name }) => name)).toEqual(['a', 'b']);
    const yaml = load((await run('status', '-o=yaml')).out) as typeof report;
    expect(yaml.servers.map(({ name }) => name)).toEqual(['a', 'b']);
    expect((await run('status')).out).toMatch(/^b +straddle sidecar, proxy off /m);
  });

  it('check exits with 1 if a check failed, and with 2 if the cluster cannot be reached', async () => {
    const found = await run('check');
    expect(found.code).toBe(1);
    expect(found.out).toMatch(/FAIL +b +gate/);
    const gone = await run('check', '--context=gone');
    expect(gone).toMatchObject({ code: 2, out: '' });
    expect(gone.err).toBe('straddle: https://127.0.0.99:9 cannot be reached: connection refused.\n');
    expect((await run('check', '--kubeconfig=/nowhere/config')).code).toBe(2);
    expect((await run('status', '--context=gone')).code).toBe(1);
  });

  it('status --watch prints the table and ends with the first signal', async () => {
    let stop: (signal: string) => void = () => {};
    let out = '';
    const { code, err } = await commands.run(['status', '--watch', '--interval=1h'], {
      onStopSignal: (listener) => {
        stop = listener;
        return () => {};
      },
      stdout: (text) => {
        out += text;
        stop('SIGINT');
      },
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\d{4}-\d\d-\d\dT.*Z\nNAME .*\na +straddle sidecar /);
  });

  it('check --problems prints only what is not ok, with the same exit code', async () => {
    // The clock of the fake servers stands still.
    const still = (...argv: string[]) => commands.run(argv, { nowMs: () => NOW_MS });
    const all = JSON.parse((await still('check', '-o=json')).out) as CheckReport;
    const { code, out } = await still('check', '--problems');
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL +b +gate /m);
    expect(out).not.toMatch(/^ok /m);
    const problems = all.checks.filter(({ verdict }) => verdict !== 'ok');
    expect(out).toContain(`\n${problems.length} of ${all.checks.length} checks are not ok.\n`);
    const json = JSON.parse((await still('check', '--problems', '-o', 'json')).out) as CheckReport;
    expect(json).toEqual({ ...all, checks: json.checks });
    expect(json.checks.map(({ check }) => check)).toEqual(problems.map(({ check }) => check));
  });

  it.each(['status', 'check', 'diff'])('%s has colors on a terminal only, and none in JSON', async (command) => {
    const terminal = { stdoutIsTerminal: true };
    expect((await commands.run([command], terminal)).out).toContain('\x1b[');
    expect((await commands.run([command])).out).not.toContain('\x1b');
    expect((await commands.run([command, '-o', 'json'], terminal)).out).not.toContain('\x1b');
    const { environment } = commands;
    const without = { ...terminal, environment: { ...environment, NO_COLOR: '1' } };
    expect((await commands.run([command], without)).out).not.toContain('\x1b');
    const forced = { environment: { ...environment, FORCE_COLOR: '1' } };
    expect((await commands.run([command], forced)).out).toContain('\x1b[');
  });

  it('diff compares versions without a cluster', async () => {
    const { out, code } = await run('diff', '--from=1.35', '--to=v1.36.4', '-o', 'json', '--kubeconfig=/nowhere');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      from: '1.35',
      to: '1.36',
      added: expect.arrayContaining(['mutatingadmissionpolicies.v1.admissionregistration.k8s.io']),
    });
    const all = (await run('diff', '--from=1.35', '--to=1.36', '--all')).out;
    expect(all).toContain('+ podgroups.v1alpha2.scheduling.k8s.io, /status\n');
  });

  it('diff refuses a captured file that is cut off in a sentence with the flag, the file and the next step', async () => {
    const file = join(commands.dir, 'cut.json');
    writeFileSync(file, '{"format":1,"capturedFrom":"v1.37.1","groups":[');
    const { code, err } = await run('diff', '--from=1.35', `--to=${file}`);
    expect(code).toBe(1);
    expect(err).toBe(
      `straddle: --to: ${file} is cut off after 47 bytes: capture it again with \`straddle surface capture --output=${file}\`.\n`,
    );
  });

  it.each([
    [['diff', '--from=1.35'], 'Give both --from and --to, or neither.'],
    [['diff', '--from=1.2', '--to=1.36'], '--from: 1.2 does not come with Straddle'],
    [['diff', '--from=1.35', '--to=newest'], '--to: newest does not come with Straddle'],
    [['diff', '--from=36', '--to=1.37'], '--from: 36 does not come with Straddle'],
    [
      ['diff', '--from=1.35', '--to=/nowhere/x.json'],
      '--to: /nowhere/x.json cannot be used (no such file or directory, ENOENT).',
    ],
    [['status', '-o', 'xml'], 'Allowed choices are table, wide, json, yaml.'],
    [['status', '--interval=5s'], '--interval is for --watch: give both, or neither.'],
    [['status', '--watch', '--interval=10ms'], 'Give a duration from 1s to 1h, such as 5s.'],
    [['status', '--server=nonsense'], 'Give it as host:port'],
    [
      ['status', '--peer-ca-file=/nowhere/ca'],
      '--peer-ca-file /nowhere/ca cannot be read (no such file or directory, ENOENT).',
    ],
  ])('%s fails with one sentence and exit code 1', async (argv, sentence) => {
    const { code, err } = await run(...argv);
    expect(code).toBe(1);
    expect(err).toContain(sentence);
  });
});

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import type { RehearsalPlaces } from '../tools/plane/start-rehearsal-plane.js';
import type { RehearsalOptions } from '../tools/rehearse/rehearsal-options.js';
import type { HalfResult, RehearsalResult } from '../tools/rehearse/rehearsal-result.js';
import { findings, half, rehearsal } from '../tools/rehearse/report/rehearsal.fixture.js';
import { runStraddle } from './program.js';
import type { Rehearse } from './rehearse-command.js';

type Asked = Omit<RehearsalOptions, 'start'>;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'straddle-rehearse-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly exits: readonly number[];
}

/** `rehearse` may signal as if Ctrl-C was pressed. */
async function run(
  argv: readonly string[],
  rehearse: (options: Asked, places: RehearsalPlaces, signal: () => void) => ReturnType<Rehearse>,
): Promise<Run> {
  const listeners = new Set<(signal: string) => void>();
  const exits: number[] = [];
  const never = () => Promise.reject(new Error('not expected'));
  const signal = () => {
    for (const listener of listeners) listener('SIGINT');
  };
  let out = '';
  let err = '';
  const code = await runStraddle(
    ['rehearse', ...argv],
    {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
      stderrIsTerminal: false,
      environment: {},
      homeDirectory: '/nowhere',
      hostname: 'here',
      addresses: [],
      readFile: (path) => readFileSync(path, 'utf8'),
      writeFile: (path, text) => writeFileSync(path, text),
      nowMs: () => 0,
      onStopSignal: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      outlastTerminal: () => {},
      exitNow: (exit) => exits.push(exit),
    },
    {
      proxy: never,
      apiServer: never,
      controlPlane: never,
      rehearse: (options, places) => rehearse(options, places, signal),
      testControlPlane: async () => Promise.reject(new Error('not started here')),
    },
  );
  expect(listeners.size).toBe(0);
  return { code, out, err, exits };
}

const VERSIONS = ['--from=1.36', '--to=1.37'];
const RESOURCE = 'podcertificaterequests.v1.certificates.k8s.io';
const report = () => join(dir, 'rehearsal.html');

/** Answers for the one half that is asked for. */
function answering(halves: Partial<Record<'off' | 'on', HalfResult>> = {}) {
  const asked: { options: Asked; places: RehearsalPlaces }[] = [];
  const rehearse = async (options: Asked, places: RehearsalPlaces): Promise<RehearsalResult> => {
    asked.push({ options, places });
    const [name] = options.halves;
    options.progress(`proxy ${name}: upgrade server-1 to ${options.to}`);
    const { from, to, servers, made } = options;
    return rehearsal({ from, to, servers, made, halves: [halves[name!] ?? half(name === 'on')] });
  };
  return { asked, rehearse };
}

const refused = () => Promise.reject(new Error('nothing should have been started'));

describe('straddle rehearse', () => {
  it('rehearses with the proxy off and on, reports, and writes the page', async () => {
    const { asked, rehearse } = answering();
    const { code, out, err } = await run([...VERSIONS, `--report=${report()}`], rehearse);
    expect(code).toBe(0);
    expect(asked.map(({ options }) => options.halves)).toEqual([['off'], ['on']]);
    expect(asked.map(({ options }) => options.halvesToFollow)).toEqual([1, 0]);
    expect(out).toContain('✓ The proxy takes the harm out of this upgrade.');
    expect(out).not.toContain('\x1b');
    expect(err).toContain(' 0:00  proxy off  upgrade server-1 to 1.37\n');
    expect(err).toMatch(new RegExp(`The report with plots: ${report()}\\n$`));
    const page = readFileSync(report(), 'utf8');
    expect(page).toContain('Proxy off');
    expect(page).toContain('Proxy on');
  });

  it('is from the second newest to the newest version by default, or to the given one from the one before', async () => {
    const shipped = shippedVersions();
    const { asked, rehearse } = answering();
    await run(['--no-report', '--proxy=on'], rehearse);
    await run(['--no-report', '--proxy=on', `--to=${shipped.at(-2)}`], rehearse);
    await run(['--no-report', '--proxy=on', `--from=${shipped[0]}`], rehearse);
    expect(asked.map(({ options }) => [options.from, options.to])).toEqual([
      shipped.slice(-2),
      shipped.slice(-3, -1),
      [shipped[0], shipped.at(-1)],
    ]);
    expect(asked[0]!.places.runtimeConfig).toEqual([]);
  });

  it('lists what differs and how it is exercised before it starts anything', async () => {
    const { rehearse } = answering();
    const { err } = await run([...VERSIONS, '--no-report', '--proxy=on'], rehearse);
    expect(err).toMatch(/^Only 1\.37 serves\n/);
    expect(err).toMatch(
      /^ {2}podcertificaterequests\.v1\.certificates\.k8s\.io +requests, watches, owners, namespaces$/m,
    );
    expect(err).toMatch(/^ {2}csinodes\.v1\.storage\.k8s\.io\/status +requests$/m);
    expect(err.indexOf('Only 1.37')).toBeLessThan(err.indexOf('upgrade server-1'));
    const clusterScoped = await run(['--from=1.35', '--to=1.36', '--no-report', '--proxy=on'], rehearse);
    expect(clusterScoped.err).toContain('No namespaced resource differs between 1.35 and 1.36: ');
  });

  it('passes the flags to the rehearsal', async () => {
    writeFileSync(join(dir, 'a.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n');
    const { asked, rehearse } = answering();
    const flags = [
      '--servers=5',
      '--hold=1m30s',
      '--rate=200',
      '--clients=9',
      '--exec=npm test',
      '--proxy=on',
      `--resource=${RESOURCE}`,
      '--controllers=none',
      `--manifests=${dir}`,
      `--data-dir=${join(dir, 'data')}`,
    ];
    const { code } = await run([...VERSIONS, '--no-report', ...flags], rehearse);
    expect(code).toBe(0);
    expect(asked).toHaveLength(1);
    expect(asked[0]!.options).toMatchObject({
      from: '1.36',
      to: '1.37',
      servers: 5,
      made: 'straddle apiserver',
      halves: ['on'],
      secondsPerStep: 90,
      load: { requestsPerSecond: 200, clients: 9 },
      exec: 'npm test',
      skewed: RESOURCE,
      controllers: 'none',
      manifests: [{ metadata: { name: 'mine' } }],
    });
    expect(asked[0]!.places).toMatchObject({ workDir: join(dir, 'data'), upstream: undefined });
    expect(existsSync(join(dir, 'data'))).toBe(true);
    expect(readdirSync(dir)).not.toContain('rehearsal.html');
  });

  it('accepts real API servers of any version', async () => {
    const { asked, rehearse } = answering();
    const flags = [
      '--upstream=https://10.0.0.1:6443,https://10.0.0.2:6443',
      '--upstream=https://10.0.0.3:6443',
      '--pki-dir=/pki',
      '--roll-command=./roll',
    ];
    const { code } = await run(['--from=v1.29.3', '--to=1.30', '--no-report', ...flags], rehearse);
    expect(code).toBe(0);
    expect(asked[0]!.options).toMatchObject({
      from: '1.29',
      to: '1.30',
      servers: 3,
      made: 'kube-apiserver behind straddle proxy',
    });
    expect(asked[0]!.places.upstream).toEqual({
      urls: ['https://10.0.0.1:6443', 'https://10.0.0.2:6443', 'https://10.0.0.3:6443'],
      pkiDir: '/pki',
      rollCommand: './roll',
    });
  });

  it.each(['json', 'yaml'])('prints the result as %s and nothing else', async (form) => {
    const gap = half(true);
    const seconds = [{ ...gap.seconds[0]!, p50Ms: undefined, p99Ms: undefined }];
    const { rehearse } = answering({ on: { ...gap, seconds } });
    const { out } = await run([...VERSIONS, '--no-report', '-o', form], rehearse);
    const result = (form === 'json' ? JSON.parse(out) : load(out)) as RehearsalResult & { verdict: unknown };
    expect(result.verdict).toEqual({
      tone: 'good',
      headline: 'The proxy takes the harm out of this upgrade',
      sentence: expect.stringContaining('762 wrong 404s'),
    });
    expect(result.halves.map(({ proxy }) => proxy)).toEqual([false, true]);
    expect(result.halves[0]!.findings.wrong404s).toBe(762);
  });

  it.each([
    ['harm with the proxy on', half(true, { findings: findings({ wrong404s: 1 }) }), 1],
    ['a failed --exec with the proxy on', half(true, { exec: [{ beginMs: 0, endMs: 1, exitCode: 7, output: '' }] }), 1],
    ['only 503s with the proxy on', half(true, { findings: findings({ unavailable503s: 5 }) }), 0],
  ])('has an exit code that depends on harm with the proxy on: %s', async (_, on, code) => {
    const { rehearse } = answering({ on });
    expect((await run([...VERSIONS, '--no-report'], rehearse)).code).toBe(code);
  });

  it('exits with 0 if there is harm with the proxy off only', async () => {
    const { rehearse } = answering();
    const { code, out } = await run([...VERSIONS, '--no-report', '--proxy=off'], rehearse);
    expect(code).toBe(0);
    expect(out).toContain('What the proxy does about it was not rehearsed.');
  });

  it('removes its temporary folder, also after a failure', async () => {
    const folders: string[] = [];
    const { code, out, err } = await run([...VERSIONS, `--report=${report()}`], async (_, { workDir }) => {
      folders.push(workDir);
      writeFileSync(join(workDir, 'left'), 'x');
      throw new Error('server-1 could not start.');
    });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/\nstraddle: server-1 could not start\.\n$/);
    expect(folders).toHaveLength(1);
    expect(existsSync(folders[0]!)).toBe(false);
    expect(existsSync(report())).toBe(false);
  });

  it('reports the first half if it is stopped in the second', async () => {
    const { rehearse } = answering();
    const stopped = await run([...VERSIONS, `--report=${report()}`], async (options, places, signal) => {
      if (options.halves[0] === 'off') return rehearse(options, places);
      signal();
      options.signal.throwIfAborted();
      throw new Error('not stopped');
    });
    expect(stopped.code).toBe(2);
    expect(stopped.err).toContain('straddle: stopped\n');
    expect(stopped.out).toMatch(/Wrong 404s +✗ 762$/m);
    expect(readFileSync(report(), 'utf8')).not.toContain('Proxy on</th>');
    expect(stopped.exits).toEqual([]);
  });

  it('starts no second half if it is stopped in the first', async () => {
    let calls = 0;
    const stopped = await run([...VERSIONS, `--report=${report()}`], async ({ signal: aborted }, _, signal) => {
      calls++;
      signal();
      signal();
      throw aborted.reason;
    });
    expect(stopped).toMatchObject({ code: 2, out: '', exits: [2] });
    expect(stopped.err).toMatch(/\nstraddle: stopped\n$/);
    expect(calls).toBe(1);
  });

  it.each([
    [['--to=1.33'], '--from and --to are both 1.33: nothing would be mixed; give two versions.'],
    [['--from=1.35', '--to=newest'], 'Give a minor version, such as 1.37.'],
    [['--from=1'], 'Give a minor version, such as 1.37.'],
    [['--from=./prod.json'], 'a captured surface is for `straddle apiserver --surface-file` and `straddle diff`.'],
    [
      ['--from=1.34', '--to=1.35'],
      '1.34 and 1.35 serve the same, so no request can reach a server that lacks something: turn an API on that only one of them has, such as --runtime-config=',
    ],
    [['--resource=pods.v1'], '--resource: pods.v1 is nothing that 1.37 serves and 1.36 does not; these are: '],
    [['--runtime-config=x=y=z'], '--runtime-config: "x=y=z" is not like batch/v1=false'],
    [['--upstream=https://a,https://b', '--roll-command=x'], '--upstream: give --from and --to'],
    [['--from=1.2', '--to=1.37'], `--from: 1.2 does not come with Straddle; ${shippedVersions().join(', ')} do.`],
    [['--from=1.36', '--to=1.36'], '--from and --to are both 1.36: nothing would be mixed; give two versions.'],
    [['--from=1.36', '--to=1.35'], '--to=1.35 is older than --from=1.36: give the older one first'],
    [[...VERSIONS, '--servers=1'], 'Give a whole number from 2 to 9.'],
    [[...VERSIONS, '--hold=10'], 'Give a duration from 1s to 1h, such as 10s.'],
    [[...VERSIONS, '--rate=0'], 'Give a whole number from 1 to 10000.'],
    [[...VERSIONS, '--proxy=maybe'], 'Allowed choices are both, off, on.'],
    [
      [...VERSIONS, '--manifests=/nowhere/at/all'],
      '--manifests: /nowhere/at/all cannot be read (no such file or directory, ENOENT).',
    ],
    [
      [...VERSIONS, '--report=/nowhere/at/all.html'],
      '--report: /nowhere/at cannot be written to (no such file or directory, ENOENT).',
    ],
    [[...VERSIONS, '--upstream=http://a'], 'Give addresses such as https://10.0.0.1:6443.'],
    [[...VERSIONS, '--upstream=https://a', '--roll-command=x'], 'with one API server nothing is ever mixed'],
    [[...VERSIONS, '--upstream=https://a,https://b'], '--upstream needs --roll-command'],
    [[...VERSIONS, '--roll-command=x'], '--roll-command is for real API servers: give --upstream too.'],
    [[...VERSIONS, '--upstream=https://a,https://b', '--roll-command=x', '--servers=3'], 'leave --servers out'],
    [[...VERSIONS, '--hodl=3s'], 'Unknown flag --hodl. Did you mean --hold?'],
  ])('fails for %s with one sentence and exit code 2', async (argv, sentence) => {
    const { code, err, out } = await run(
      argv.some((each) => each.startsWith('--report')) ? argv : [...argv, '--no-report'],
      refused,
    );
    expect(err).toContain(sentence);
    expect(err).not.toContain('nothing should have been started');
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it('has help with examples', async () => {
    const { code, out } = await run(['--help'], refused);
    expect(code).toBe(0);
    expect(out).toContain('$ straddle rehearse\n');
    expect(out).toContain('--roll-command <command>');
  });
});

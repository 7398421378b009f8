import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import type { RunningControlPlane } from '../tools/plane/control-plane.js';
import { type ControlPlaneOptions, defaultVersions } from '../tools/plane/control-plane-options.js';
import { runStraddle } from './program.js';

/** A control plane of the versions that `up` would start, which is stopped at once. */
function planeOf(versions: readonly string[]): RunningControlPlane {
  return {
    front: '127.0.0.1:7440',
    kubeconfig: '/data/kubeconfig',
    pki: {} as RunningControlPlane['pki'],
    servers: versions.map((version, index) => ({
      name: `server-${index + 1}`,
      version,
      address: `127.0.0.1:${7441 + index}`,
      pid: 100 + index,
    })),
    roll: async () => 0,
    close: async () => {},
  };
}

/** A PATH with kubectl, and one without. */
const programs = mkdtempSync(join(tmpdir(), 'straddle-path-'));
writeFileSync(join(programs, 'kubectl'), '', { mode: 0o755 });
afterAll(() => rmSync(programs, { recursive: true, force: true }));

interface Up {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly asked: ControlPlaneOptions[];
  readonly written: ReadonlyMap<string, string>;
}

const up = (...argv: string[]): Promise<Up> => upWith({ PATH: programs }, argv);

async function upWith(environment: Record<string, string>, argv: readonly string[]): Promise<Up> {
  const written = new Map<string, string>();
  const listeners = new Set<(signal: string) => void>();
  const asked: ControlPlaneOptions[] = [];
  const result = { out: '', err: '' };
  const never = () => Promise.reject(new Error('not expected'));
  const code = await runStraddle(
    ['up', ...argv],
    {
      stdout: (text) => {
        result.out += text;
        // Ctrl-C, once the screen is there.
        for (const listener of listeners) listener('SIGINT');
      },
      stderr: (text) => {
        result.err += text;
      },
      stderrIsTerminal: false,
      environment,
      homeDirectory: '/nowhere',
      hostname: 'here',
      addresses: [],
      readFile: (path) => readFileSync(path, 'utf8'),
      writeFile: (path, text) => void written.set(path, text),
      nowMs: () => 0,
      onStopSignal: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      outlastTerminal: () => {},
      exitNow: () => {},
    },
    {
      proxy: never,
      apiServer: never,
      rehearse: never,
      testControlPlane: never,
      controlPlane: async (options) => {
        asked.push(options);
        return planeOf(options.versions ?? defaultVersions());
      },
    },
  );
  return { code, ...result, asked, written };
}

/** The screen without the breaks that keep it within 80 columns. */
const unbroken = (out: string): string => out.replaceAll(/\n {2}# /g, ' ').replaceAll(/ \\\n +/g, ' ');

const [BEFORE, NEWEST] = shippedVersions().slice(-2);

describe('straddle up', () => {
  it('writes the example in place of a link, not to the file that it leads to', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'straddle-up-'));
    const link = join(dataDir, 'example.yaml');
    symlinkSync(join(programs, 'kubectl'), link);
    const { written } = await up(`--data-dir=${dataDir}`);
    expect([...written.keys()]).toEqual([link]);
    expect(existsSync(link)).toBe(false);
    rmSync(dataDir, { recursive: true });
  });

  it('runs the two newest versions by default, without a runtime configuration', async () => {
    const { code, asked, out } = await up();
    expect(code).toBe(0);
    expect(asked[0]!.runtimeConfig).toEqual([]);
    expect(defaultVersions()).toEqual([BEFORE, BEFORE, NEWEST]);
    expect(out).toContain(`  # Only ${NEWEST} serves podcertificaterequests in v1. Create one at server-3.\n`);
    expect(out).toContain('  kubectl create --context=server-3 -f straddle-data/example.yaml\n');
    expect(out).toContain('  kubectl get --context=server-1 podcertificaterequests.v1.certificates.k8s.io\n');
    expect(out).toContain('a wrong 404. Then on again.');
    expect(out).toContain(`roll --to=${NEWEST}\n`);
  });

  it('writes the object that it suggests to create, with a new name each time', async () => {
    const { written } = await up('--data-dir=/data');
    expect(loadAll(written.get('/data/example.yaml')!)).toEqual([
      expect.objectContaining({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'PodCertificateRequest',
        metadata: { generateName: 'example-' },
      }),
    ]);
  });

  it('suggests only commands that are there: its own ones without kubectl on the PATH', async () => {
    const { out } = await upWith({ PATH: '/nowhere' }, []);
    expect(out).not.toContain('kubectl');
    expect(unbroken(out)).toContain(' create --context=server-3 -f straddle-data/example.yaml\n');
    expect(unbroken(out)).toContain(' get --context=server-1 podcertificaterequests.v1.certificates.k8s.io\n');
  });

  it.each([[[]], [['--no-proxy']], [['--versions=1.33,1.34,1.35', '--data-dir=/tmp/straddle/a/folder/far/away']]])(
    'fits 80 columns with %j, except for words that are longer',
    async (argv) => {
      for (const environment of [{ PATH: programs }, { PATH: '/nowhere' }]) {
        const { out } = await upWith(environment, argv);
        const tooLong = out.split('\n').filter((line) => line.length > 80 && line.trim().split(' ').length > 2);
        expect(tooLong).toEqual([]);
      }
    },
  );

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'the versions that serve it, and a server that does not',
      ['--versions=1.37,v1.33.2,1.35'],
      ['# Only 1.37 serves podcert', 'create --context=server-1', 'get --context=server-2 podcert'],
    ],
    [
      'several versions that serve it',
      ['--versions=1.33,1.34,1.35'],
      [
        '# 1.34 and 1.35 serve resourceclaims in v1.',
        'create --context=server-3',
        'get --context=server-1 resourceclaims.v1.',
      ],
    ],
    [
      'the reply without the proxy',
      ['--versions=1.35,1.36', '--no-proxy'],
      ['# Only 1.36 serves mutatingadmissionpolicies', 'a wrong 404, because the proxy is off.'],
    ],
    [
      'what --runtime-config turned on',
      ['--versions=1.34,1.35', '--runtime-config=scheduling.k8s.io/v1alpha1=true'],
      ['get --context=server-1 workloads.v1alpha1.scheduling.k8s.io', '# Only 1.35 serves workloads in v1alpha1.'],
    ],
  ])('suggests something that differs, with %s', async (_, argv, parts) => {
    const { out } = await up(...argv);
    const text = unbroken(out);
    for (const part of parts) expect(text).toContain(part.replace(/^# /, ''));
  });

  it('suggests nothing of the kind if the versions do not differ', async () => {
    const { code, out, written } = await up('--versions=1.34,1.35');
    expect(code).toBe(0);
    expect(out).not.toContain('--context=server-1');
    expect(written.size).toBe(0);
  });

  it.each([
    [['--versions=1'], `Give a minor version, such as ${NEWEST}.`],
    [['--versions=1.36,latest'], `Give a minor version, such as ${NEWEST}.`],
    [['--versions=1.36,./prod.json'], 'a captured surface is for `straddle apiserver --surface-file`'],
    [['--versions='], `Give one to 9 minor versions, such as ${BEFORE},${BEFORE},${NEWEST}.`],
  ])('refuses %s with what to give instead, and starts nothing', async (argv, sentence) => {
    const { code, err, asked } = await up(...argv);
    expect(code).toBe(1);
    expect(err).toContain(sentence);
    expect(asked).toEqual([]);
  });
});

import { readFile } from 'node:fs/promises';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { ProxyConfig } from '../compose/config/proxy-config.js';
import type { RunningServer } from '../compose/start-server.js';
import { kubernetesSpelling, runStraddle } from './program.js';
import type { Start } from './serve.js';
import type { Surroundings } from './surroundings.js';

const PROXY = [
  'proxy',
  '--tls-cert-file=a',
  '--tls-private-key-file=b',
  '--upstream=https://127.0.0.1:7443',
  '--upstream-ca-file=c',
];

interface Run {
  out: string;
  err: string;
  code: Promise<number>;
  signal: (name: string) => void;
  readonly exits: number[];
}

function run(
  argv: readonly string[],
  start: Start<ProxyConfig> = async () => Promise.reject(new Error('not started here')),
): Run {
  const listeners = new Set<(signal: string) => void>();
  const result: Run = {
    out: '',
    err: '',
    code: Promise.resolve(-1),
    signal: (name) => {
      for (const listener of listeners) listener(name);
    },
    exits: [],
  };
  const surroundings: Surroundings = {
    stdout: (text) => (result.out += text),
    stderr: (text) => (result.err += text),
    stderrIsTerminal: false,
    environment: {},
    homeDirectory: '/nowhere',
    hostname: 'cp1',
    addresses: ['10.0.0.5'],
    readFile: (path) => {
      throw Object.assign(new Error(path), { code: 'ENOENT' });
    },
    writeFile: (path) => {
      throw Object.assign(new Error(path), { code: 'EROFS' });
    },
    nowMs: () => 0,
    onStopSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    outlastTerminal: () => {},
    exitNow: (code) => result.exits.push(code),
  };
  result.code = runStraddle(argv, surroundings, {
    proxy: start,
    apiServer: async () => Promise.reject(new Error('not started here')),
    controlPlane: async () => Promise.reject(new Error('not started here')),
    rehearse: async () => Promise.reject(new Error('not started here')),
    testControlPlane: async () => Promise.reject(new Error('not started here')),
  });
  return result;
}

function fakeServer(close: () => Promise<void>, closed: Promise<void> = new Promise(() => {})): RunningServer {
  return { address: '127.0.0.1', port: 1234, close, closed };
}

async function settled(started: Run): Promise<{ code: number; err: string }> {
  return { code: await started.code, err: started.err };
}

describe('straddle', () => {
  it('without arguments prints its commands', async () => {
    const bare = run([]);
    expect(await bare.code).toBe(0);
    for (const command of ['proxy', 'forget', 'rbac', 'version']) expect(bare.out).toContain(command);
  });

  it.each(['proxy', 'forget', 'rbac', 'version'])('%s has help with examples', async (command) => {
    const help = run([command, '--help']);
    expect(await help.code).toBe(0);
    expect(help.out).toMatch(/Examples?:\n.*\$ ?.*straddle/s);
  });

  it('names an unknown command or flag and suggests the nearest', async () => {
    const command = run(['prxy']);
    expect(await command.code).toBe(1);
    expect(command.err).toContain('Unknown command "prxy". Did you mean proxy?');
    const flag = run(['proxy', '--peer-ca-fil=x']);
    expect(await flag.code).toBe(1);
    expect(flag.err).toContain('Unknown flag --peer-ca-fil. Did you mean --peer-ca-file?');
  });

  it('prints help for `help`, for `help` with a command, and for a command that only has others', async () => {
    const all = run(['help']);
    expect(await all.code).toBe(0);
    expect(all.out).toContain('Usage: straddle ');
    const one = run(['help', 'forget']);
    expect(await one.code).toBe(0);
    expect(one.out).toContain('Usage: straddle forget ');
    expect(one.out).not.toContain('--lease-namespace');
    const surface = run(['surface']);
    expect(await surface.code).toBe(0);
    expect([surface.out, surface.err]).toEqual([expect.stringContaining('Usage: straddle surface '), '']);
  });

  it('says without names of system calls why a file cannot be used', async () => {
    const missing = async () => void (await readFile('/nowhere/file'));
    const { code, err } = await settled(
      run(PROXY, async () => Promise.reject(await missing().catch((error) => error))),
    );
    expect(code).toBe(1);
    expect(err).toBe(
      'straddle: /nowhere/file cannot be used (no such file or directory, ENOENT); check that it exists and that this user may use it.\n',
    );
  });

  it('prints its version', async () => {
    for (const argv of [['version'], ['--version']]) {
      const version = run(argv);
      expect(await version.code).toBe(0);
      expect(version.out).toMatch(/^straddle \d+\.\d+\.\d+ /);
    }
  });

  it('accepts flags in the spellings of Kubernetes programs', () => {
    expect(kubernetesSpelling(['-v=4', '--peer_ca_file=a_b', 'x_y', '--'])).toEqual([
      '--v=4',
      '--peer-ca-file=a_b',
      'x_y',
      '--',
    ]);
  });
});

describe('straddle proxy', () => {
  it('prints all problems, one per line, and starts nothing', async () => {
    const wrong = run(['proxy', '--workers=65']);
    expect(await wrong.code).toBe(1);
    expect(wrong.err.trim().split('\n').length).toBeGreaterThan(2);
    expect(wrong.err).not.toContain('not started here');
  });

  it('passes repeated flags and aliases to the configuration', async () => {
    let config: ProxyConfig | undefined;
    const proxy = run(
      [
        ...PROXY,
        '--peer=https://10.0.0.2',
        '--peer',
        'https://10.0.0.3',
        '--peer-advertise-address=10.0.0.9',
        '-v',
        '5',
      ],
      async (given) => {
        config = given;
        throw new Error('enough');
      },
    );
    await proxy.code;
    expect(config?.staticPeers.map(({ host }) => host)).toEqual(['10.0.0.2', '10.0.0.3']);
    expect(config).toMatchObject({ peerAdvertiseIp: '10.0.0.9', logLevel: 'debug' });
  });

  it('prints one sentence if it cannot start', async () => {
    const failed = run(PROXY, async () => Promise.reject(new Error('Port 6443 is taken.')));
    expect(await failed.code).toBe(1);
    expect(failed.err).toContain('straddle: Port 6443 is taken.\n');
  });

  it('closes on a signal and exits with 0', async () => {
    let closes = 0;
    let started = () => {};
    const starting = new Promise<void>((resolve) => {
      started = resolve;
    });
    const proxy = run(PROXY, async () => {
      started();
      return fakeServer(async () => void closes++);
    });
    await starting;
    proxy.signal('SIGTERM');
    expect(await proxy.code).toBe(0);
    expect(closes).toBe(1);
    expect(proxy.exits).toEqual([]);
    expect(JSON.parse(proxy.err.trim().split('\n').at(-1)!)).toMatchObject({ msg: 'stopped' });
  });

  it('exits at once with 1 on a second signal', async () => {
    let finish = () => {};
    const proxy = run(PROXY, async () => fakeServer(() => new Promise((resolve) => (finish = resolve))));
    proxy.signal('SIGINT');
    proxy.signal('SIGINT');
    expect(proxy.exits).toEqual([1]);
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    await proxy.code;
  });

  it('exits with 1 if the server ends unexpectedly', async () => {
    const proxy = run(PROXY, async () => fakeServer(async () => {}, Promise.resolve()));
    expect(await proxy.code).toBe(1);
    expect(proxy.err).toContain('without having been asked');
  });
});

it('prints no terminal sequences in the sentence of an error, a part of which may be of a server', async () => {
  const get = run(['get', 'pods', '--kubeconfig=a\x1b[2Jb\x08']);
  expect(await get.code).toBe(1);
  expect(get.err).toContain('straddle: The kubeconfig ab\ufffd cannot be read');
});

describe('straddle rbac', () => {
  it('prints roles and bindings for the user, as valid YAML', async () => {
    const rbac = run(['rbac', '--user=straddle-1']);
    expect(await rbac.code).toBe(0);
    const objects = loadAll(rbac.out) as { kind: string; subjects?: { name: string }[] }[];
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Role',
      'RoleBinding',
      'Role',
      'RoleBinding',
      'ClusterRole',
      'ClusterRoleBinding',
    ]);
    expect(objects[1]?.subjects?.[0]?.name).toBe('straddle-1');
    expect(load(rbac.out.split('---')[0]!)).toMatchObject({ metadata: { namespace: 'kube-system' } });
  });

  it('refuses user names that are not plain text in YAML', async () => {
    expect(await run(['rbac', '--user=a"b']).code).toBe(1);
  });
});

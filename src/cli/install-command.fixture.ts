import { Command } from 'commander';
import type { FakeNode } from '../tools/install/node.fixture.js';
import { addInstallCommands } from './install-command.js';
import type { Surroundings } from './surroundings.js';

export const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
export const POD = '/etc/kubernetes/manifests/straddle.yaml';
export const PATCH = '/etc/kubernetes/patches/kube-apiserver-straddle+json.yaml';
export const BACKUP = '/etc/kubernetes/straddle/backup/2-kube-apiserver.yaml';
export const JOURNAL = '/etc/kubernetes/straddle/install.json';

export interface Ran {
  readonly out: string;
  readonly error: Error | undefined;
}

/** Runs one of the two commands on a node; resolves with what it printed and why it failed. */
export async function run(
  node: FakeNode,
  argv: readonly string[],
  onStopSignal?: (listener: () => void) => void,
  exitNow: (code: number) => void = () => {},
): Promise<Ran> {
  let out = '';
  const surroundings: Surroundings = {
    stdout: (text) => (out += text),
    stderr: (text) => (out += text),
    stderrIsTerminal: false,
    environment: {},
    homeDirectory: '/nowhere',
    hostname: 'cp1',
    addresses: ['127.0.0.1', '10.0.0.1', '10.0.0.100'],
    readFile: () => '',
    writeFile: () => {},
    nowMs: () => node.nowMs,
    onStopSignal: (listener) => {
      onStopSignal?.(() => listener('SIGTERM'));
      return () => {};
    },
    outlastTerminal: () => {},
    exitNow,
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addInstallCommands(program, surroundings, {
    ask: node.ask,
    delay: node.delay,
    resolve: async (name) => (name === 'vip.example' ? ['10.0.0.100'] : []),
    hasImage: async () => node.faults.hasImage,
    lock: async () => () => {},
    kubeadmConfig: async () => ({ text: 'kind: ClusterConfiguration\ncontrolPlaneEndpoint: lb.example:6443\n' }),
  });
  try {
    await program.parseAsync([...argv, `--root=${node.root}`], { from: 'user' });
    return { out, error: undefined };
  } catch (error) {
    return { out, error: error as Error };
  }
}

export const INSTALL = ['install', '--kubeadm', '--image=straddle:1', '--timeout=30s'];
export const install = (node: FakeNode, ...more: string[]) => run(node, [...INSTALL, ...more]);
export const uninstall = (node: FakeNode) => run(node, ['uninstall', '--timeout=30s']);

import { describe, expect, it } from 'vitest';
import type { Machine } from './endpoints.js';
import { checkKubeadmConfig } from './kubeadm-config.js';
import { readOutput } from './kubeadm-output.fixture.js';

const machine: Machine = {
  addresses: ['127.0.0.1', '10.0.0.1', '10.0.0.100', 'fd00:0:0::100'],
  resolve: async (name) => ({ 'vip.example': ['10.0.0.100'], 'node.example': ['127.0.0.1', '10.0.0.1'] })[name] ?? [],
};
const check = async (yaml: string) =>
  (await checkKubeadmConfig({ text: `kind: ClusterConfiguration\n${yaml}\n` }, readOutput(), machine)).map(
    ({ verdict, sentence }) => `${verdict} ${sentence}`,
  );

describe('checkKubeadmConfig', () => {
  it.each([
    ['nothing special', 'kubernetesVersion: v1.36.4', []],
    [
      'a load balancer',
      'controlPlaneEndpoint: lb.example:6443',
      [/^ok .*lb\.example:6443, which must lead to 10\.0\.0\.1:6443/],
    ],
    [
      'a virtual address',
      'controlPlaneEndpoint: "10.0.0.100:6443"',
      [/^FAIL .*10\.0\.0\.100:6443, which leads to 10\.0\.0\.100, another address of this machine/],
    ],
    [
      'a virtual IPv6 address in other words',
      'controlPlaneEndpoint: "[FD00::0100]:6443"',
      [/^FAIL .*another address of this machine/],
    ],
    [
      'a name of a virtual address',
      'controlPlaneEndpoint: vip.example:6443',
      [/^FAIL .*vip\.example:6443, which leads to 10\.0\.0\.100, another address of this machine/],
    ],
    ['a name of the node', 'controlPlaneEndpoint: node.example:6443', [/^ok .*node\.example:6443/]],
    [
      'another port',
      'apiServer: {extraArgs: [{name: secure-port, value: "7443"}]}',
      [/^FAIL .*--secure-port=7443, the manifest 6443/],
    ],
    ['a bind address', 'apiServer: {extraArgs: {bind-address: 0.0.0.0}}', [/^ok .*the patch appends a later one/]],
    ['odd extraArgs', 'apiServer: {extraArgs: [a]}', [/^warn apiServer\.extraArgs in the ConfigMap/]],
    ['broken YAML', 'a: [', [/^warn .*not valid YAML/]],
    ['an endpoint that is none', 'controlPlaneEndpoint: "a b"', []],
  ])('finds what matters in a configuration with %s', async (_, yaml, wanted) => {
    const found = await check(yaml);
    expect(found).toHaveLength(wanted.length);
    for (const [index, pattern] of wanted.entries()) expect(found[index]).toMatch(pattern);
  });

  it('warns where it cannot be read', async () => {
    const [finding] = await checkKubeadmConfig({ unreadable: 'forbidden' }, readOutput(), machine);
    expect(finding).toMatchObject({ verdict: 'warn', sentence: expect.stringContaining('(forbidden)') });
  });
});

import { describe, expect, it } from 'vitest';
import { readApiServerManifest } from './api-server-manifest.js';
import { KUBEADM_OUTPUTS, kubeadmOutput, MANIFEST_PATH, readOutput } from './kubeadm-output.fixture.js';

/** Replaces text that must be there. */
const replacing = (from: string | RegExp, to: string) => (text: string) => {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  return changed;
};

describe('readApiServerManifest', () => {
  it('returns the facts of a manifest of kubeadm', () => {
    expect(readOutput()).toMatchObject({
      version: 'v1.36.4',
      node: { host: '10.0.0.1', port: 6443 },
      loopback: { host: '127.0.0.1', port: 6443 },
      isBehind: false,
      probes: ['livenessProbe', 'readinessProbe', 'startupProbe'],
      mounts: [
        { mountPath: '/etc/ssl/certs', hostPath: '/etc/ssl/certs' },
        { mountPath: '/etc/kubernetes/pki', hostPath: '/etc/kubernetes/pki' },
      ],
      runAs: undefined,
    });
  });

  it.each(KUBEADM_OUTPUTS)('recognizes whether the server of %s is behind Straddle already', (name) => {
    expect([readOutput(name).isBehind, readOutput(`${name}-patched`).isBehind]).toEqual([false, true]);
  });

  it('takes the IPv6 loopback address for an IPv6 node', () => {
    expect(readOutput('1.36-ipv6')).toMatchObject({
      node: { host: 'fd00:10::1' },
      loopback: { host: '::1', port: 6443 },
    });
  });

  it('accepts an external etcd of several servers, and flags that are repeated', () => {
    const { flags } = readOutput('1.36-external-etcd');
    expect(flags.get('etcd-servers')).toEqual(['https://10.0.0.1:2379,https://10.0.0.2:2379']);
    expect(flags.get('bind-address')).toEqual(['0.0.0.0']);
  });

  it('reads the user whom kubeadm gave the keys to', () => {
    const rootless = replacing('  securityContext:\n', '  securityContext:\n    runAsGroup: 994\n    runAsUser: 995\n');
    expect(readOutput('1.36', rootless).runAs).toEqual({ user: 995, group: 994 });
  });

  it('accepts an image without a version', () => {
    expect(readOutput('1.36', replacing(':v1.36.4', '@sha256:abc')).version).toBeUndefined();
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['broken YAML', () => 'a: [', /not one document of YAML/],
    ['two documents', (text) => `${text}---\n${text}`, /not one document of YAML/],
    ['another kind', () => 'kind: Deployment', /it is not a Pod/],
    [
      'another program',
      replacing(/name: kube-apiserver\n {4}ports/, 'name: etcd\n    ports'),
      /first container is not kube-apiserver/,
    ],
    [
      'a wrapped command',
      replacing('    - kube-apiserver\n', '    - /go-runner\n    - kube-apiserver\n'),
      /does not begin with/,
    ],
    [
      'no annotation of kubeadm',
      replacing('kubeadm.kubernetes.io', 'example.com'),
      /no annotation kubeadm\.kubernetes\.io/,
    ],
    ['no host network', replacing('hostNetwork: true', 'hostNetwork: false'), /no hostNetwork/],
    ['no advertise address', replacing(/ {4}- --advertise-address.*\n/, ''), /--advertise-address is ""/],
    ['a loopback advertise address', replacing('address=10.0.0.1', 'address=127.0.0.1'), /other machines cannot reach/],
    [
      'two advertise addresses',
      replacing('address=10.0.0.1', 'address=10.0.0.1,fd00::1'),
      /takes one address of one family/,
    ],
    ['a port that is none', replacing('secure-port=6443', 'secure-port=0'), /--secure-port is "0"/],
    [
      'a bind address elsewhere',
      replacing('    - --secure', '    - --bind-address=10.0.0.7\n    - --secure'),
      /10\.0\.0\.7 and/,
    ],
    ['an old kubeadm', replacing('v1.36.4', 'v1.21.14'), /v1\.21\.14, whose kubeadm has no --patches/],
    ['a stray word', replacing('    - --secure', '    - --v=2\n    - x\n    - --secure'), /the word "x"/],
  ])('refuses %s in one sentence with the path', (_, change, message) => {
    const read = () => readApiServerManifest(MANIFEST_PATH, change(kubeadmOutput('1.36')));
    expect(read).toThrow(message);
    expect(read).toThrow(new RegExp(`^[^\n]*${MANIFEST_PATH.replaceAll('/', '\\/')}[^\n]*$`));
  });
});

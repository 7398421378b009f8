import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { FlagName } from '../../compose/config/flags.js';
import { loadProxyConfig } from '../../compose/config/load-proxy-config.js';
import type { JsonObject } from '../../kube/json.js';
import { clusterApiExample } from './cluster-api-example.js';
import { readOutput } from './kubeadm-output.fixture.js';
import { sidecarOf, sidecarOfAnyNode } from './sidecar.js';
import { straddlePod } from './straddle-pod.js';

interface Pod {
  readonly spec: {
    readonly hostNetwork: boolean;
    readonly containers: readonly [Container];
    readonly volumes: readonly { readonly name: string; readonly hostPath: { path: string; type: string } }[];
  };
}

interface Container {
  readonly command: readonly string[];
  readonly env?: unknown;
  readonly securityContext: JsonObject;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly livenessProbe: { readonly httpGet: JsonObject };
}

const podOf = (name?: string, change?: (text: string) => string): Pod =>
  load(straddlePod(sidecarOf(readOutput(name, change)), 'straddle:1')) as Pod;
const anyPod = (): Pod => load(straddlePod(sidecarOfAnyNode(), 'straddle:1')) as Pod;

/** The configuration that the command of the pod gives. */
function configOf({ spec }: Pod) {
  const [program, command, ...flags] = spec.containers[0].command;
  expect([program, command]).toEqual(['straddle', 'proxy']);
  const given = flags.map((flag) => /^--([^=]+)=(.*)$/.exec(flag.replaceAll('$(NODE_IP)', '10.0.0.1'))!);
  return loadProxyConfig(new Map(given.map(([, name, value]) => [name as FlagName, [value!]])), {
    hostname: 'cp1',
    addresses: ['10.0.0.1'],
    readFile: () => '',
  });
}

describe('the static pod of Straddle', () => {
  it('has a command that takes the place of the kube-apiserver, with its certificates', () => {
    expect(configOf(podOf())).toMatchObject({
      bindAddress: '10.0.0.1',
      securePort: 6443,
      peerAdvertiseIp: '10.0.0.1',
      upstream: { host: '127.0.0.1', port: 6443, caFile: '/etc/kubernetes/pki/ca.crt' },
      tlsCertFile: '/etc/kubernetes/pki/apiserver.crt',
      peerCaFile: '/etc/kubernetes/pki/ca.crt',
      requestHeader: { allowedNames: ['front-proxy-client'], usernameHeaders: ['X-Remote-User'] },
      frontProxyCertificate: { certFile: '/etc/kubernetes/pki/front-proxy-client.crt' },
      peeringActive: true,
      notes: [],
    });
  });

  it('is valid for an IPv6 node and for any node', () => {
    expect(configOf(podOf('1.36-ipv6'))).toMatchObject({
      bindAddress: 'fd00:10::1',
      upstream: { host: '::1', port: 6443 },
    });
    expect(configOf(anyPod())).toMatchObject({ bindAddress: '10.0.0.1', peeringActive: true });
    expect(anyPod().spec.containers[0].env).toEqual([
      { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    ]);
  });

  it('is made from addresses that are written in another way than the advertised one', () => {
    const flags = '    - --bind-address=FD00:0010::1\n    - --peer-advertise-ip=fd00:10:0::1\n    - --secure';
    expect(configOf(podOf('1.36-ipv6', (text) => text.replace('    - --secure', flags)))).toMatchObject({
      bindAddress: 'fd00:10::1',
    });
  });

  it('has the last value of a flag that the kube-apiserver takes once, and all of a list', () => {
    const flags = ['request-timeout=1m', 'request-timeout=2m', 'requestheader-allowed-names=other'];
    const more = flags.map((flag) => `    - --${flag}\n`).join('');
    const { command } = podOf('1.36', (text) => text.replace('    - --secure', `${more}    - --secure`)).spec
      .containers[0];
    expect(command.filter((word) => word.startsWith('--request-timeout'))).toEqual(['--request-timeout=2m']);
    expect(command).toContain('--requestheader-allowed-names=front-proxy-client,other');
  });

  it('sees exactly the files that it needs, read-only, and one folder for its state', () => {
    const { containers, volumes } = podOf().spec;
    const pki = (name: string) => `/etc/kubernetes/pki/${name}`;
    const files = [
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'front-proxy-ca.crt',
      'front-proxy-client.crt',
      'front-proxy-client.key',
    ];
    const mounts = containers[0].volumeMounts;
    expect(mounts.filter(({ readOnly }) => readOnly).map(({ mountPath }) => mountPath)).toEqual(files.map(pki));
    expect(mounts.filter(({ readOnly }) => !readOnly)).toEqual([{ name: 'state', mountPath: '/var/lib/straddle' }]);
    expect(volumes.map(({ hostPath }) => hostPath)).toEqual([
      ...files.map((name) => ({ path: pki(name), type: 'File' })),
      { path: '/var/lib/straddle', type: 'DirectoryOrCreate' },
    ]);
    expect(volumes.map(({ name }) => name)).toEqual(mounts.map(({ name }) => name));
  });

  it('mounts files from where they are on the host', () => {
    const elsewhere = (text: string) => text.replace('path: /etc/kubernetes/pki', 'path: /srv/pki');
    expect(podOf('1.36', elsewhere).spec.volumes[0]?.hostPath.path).toBe('/srv/pki/apiserver.crt');
    const withSlash = (text: string) => elsewhere(text).replace('mountPath: /etc/kubernetes/pki', '$&/');
    expect(podOf('1.36', withSlash).spec.volumes[0]?.hostPath.path).toBe('/srv/pki/apiserver.crt');
  });

  it('runs as the owner of the keys, without capabilities, and probes Straddle', () => {
    const hardened = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    const [container] = podOf().spec.containers;
    expect(container.securityContext).toEqual({ runAsUser: 0, runAsGroup: 0, ...hardened });
    expect(container.livenessProbe.httpGet).toEqual({ host: '10.0.0.1', path: '/livez', port: 6443, scheme: 'HTTPS' });
    expect(container).not.toHaveProperty('ports');
    const rootless = (text: string) => text.replace('  securityContext:\n', '  securityContext:\n    runAsUser: 995\n');
    expect(podOf('1.36', rootless).spec.containers[0].securityContext).toEqual({
      runAsUser: 995,
      runAsGroup: 995,
      ...hardened,
    });
    const low = (text: string) => text.replaceAll('6443', '443');
    expect(podOf('1.36', low).spec.containers[0].securityContext['capabilities']).toEqual({
      drop: ['ALL'],
      add: ['NET_BIND_SERVICE'],
    });
  });

  it.each<[string, (text: string) => string, RegExp]>([
    [
      'front-proxy certificate',
      (text) => text.replace(/.*--proxy-client-cert-file.*\n/, ''),
      /no --proxy-client-cert-file.*front-proxy certificate/,
    ],
    [
      'mount of its certificates',
      (text) => text.replace('mountPath: /etc/kubernetes/pki', 'mountPath: /elsewhere'),
      /below no folder of the host/,
    ],
    [
      'address for peers',
      (text) => text.replace('    - --secure', '    - --peer-advertise-ip=10.9.9.9\n    - --secure'),
      /would listen at 10\.0\.0\.1/,
    ],
  ])('cannot be made from a manifest without the right %s', (_, change, message) => {
    expect(() => podOf('1.36', change)).toThrow(message);
  });
});

describe('the example for Cluster API', () => {
  it('has the pod, the patches and the rights as files, and the patches for init and join', () => {
    const { spec } = load(clusterApiExample('straddle:1', 'rights')) as {
      spec: {
        kubeadmConfigSpec: {
          files: { path: string; content: string }[];
          initConfiguration: object;
          joinConfiguration: object;
        };
      };
    };
    const { files, initConfiguration, joinConfiguration } = spec.kubeadmConfigSpec;
    expect(files.map(({ path }) => path)).toEqual([
      '/etc/kubernetes/manifests/straddle.yaml',
      '/etc/kubernetes/patches/kube-apiserver-straddle+json.yaml',
      '/etc/kubernetes/patches/kube-apiserver-straddle+strategic.yaml',
      '/etc/kubernetes/straddle-rbac.yaml',
    ]);
    expect(load(files[0]!.content)).toEqual(anyPod());
    for (const configuration of [initConfiguration, joinConfiguration])
      expect(configuration).toMatchObject({ patches: { directory: '/etc/kubernetes/patches' } });
  });

  it('gives the kubelet the advertised address, which the pod of Straddle needs before any cloud provider answers', () => {
    const { spec } = load(clusterApiExample('straddle:1', 'rights')) as {
      spec: { kubeadmConfigSpec: { initConfiguration: JsonObject; joinConfiguration: JsonObject } };
    };
    const { initConfiguration: init, joinConfiguration: join } = spec.kubeadmConfigSpec;
    const localAPIEndpoint = { advertiseAddress: expect.stringContaining('local_ipv4'), bindPort: 6443 };
    expect(init).toMatchObject({ localAPIEndpoint });
    expect(join).toMatchObject({ controlPlane: { localAPIEndpoint } });
    const { advertiseAddress } = init['localAPIEndpoint'] as JsonObject;
    const nodeRegistration = { kubeletExtraArgs: { 'node-ip': advertiseAddress } };
    expect([init, join]).toEqual(Array(2).fill(expect.objectContaining({ nodeRegistration })));
  });
});

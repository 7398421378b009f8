import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { BALANCER_ADDRESS, type Machine, PORT } from './machine.js';

/** Where the configuration of kubeadm lies on a machine. */
export const CONFIG = '/etc/kubernetes/kubeadm.yaml';

const API = 'kubeadm.k8s.io/v1beta4';

type Arguments = Readonly<Record<string, string>>;

/** Returns the configuration for one machine, with further documents. JSON is YAML. */
export function kubeadmConfig(
  machine: Machine,
  all: readonly Machine[],
  version: KubeVersion,
  more: readonly object[] = [],
): string {
  const init = {
    apiVersion: API,
    kind: 'InitConfiguration',
    localAPIEndpoint: { advertiseAddress: machine.address, bindPort: PORT },
    nodeRegistration: { name: machine.name, criSocket: 'unix:///run/containerd/containerd.sock' },
  };
  const cluster = {
    apiVersion: API,
    kind: 'ClusterConfiguration',
    kubernetesVersion: version,
    imageRepository: 'images.example',
    controlPlaneEndpoint: `${BALANCER_ADDRESS}:${PORT}`,
    // A graceful stop otherwise takes as long as watches are open.
    apiServer: { extraArgs: named({ 'shutdown-watch-termination-grace-period': '1s' }) },
    etcd: { local: etcd(machine, all) },
  };
  return [init, cluster, ...more].map((document) => `${JSON.stringify(document, null, 2)}\n`).join('---\n');
}

/** A member of an etcd of all machines, as the guide of kubeadm to an etcd of several nodes has it. */
function etcd({ name, address }: Machine, all: readonly Machine[]): object {
  return {
    dataDir: '/var/lib/etcd',
    serverCertSANs: [address],
    peerCertSANs: [address],
    extraArgs: named({
      'initial-cluster': all.map((each) => `${each.name}=https://${each.address}:2380`).join(','),
      'initial-cluster-state': 'new',
      name,
      // Nothing has to survive a power cut, and a slow disk must not decide a test.
      'unsafe-no-fsync': 'true',
    }),
  };
}

function named(values: Arguments): object[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

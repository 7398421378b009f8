import { ANY_NODE, kubeadmPatches, PATCHES_DIR } from './kubeadm-patches.js';
import { yamlText } from './manifest-edit.js';
import { sidecarOfAnyNode } from './sidecar.js';
import { STRADDLE_POD, straddlePod } from './straddle-pod.js';

const MANIFESTS_DIR = '/etc/kubernetes/manifests';
const RBAC_FILE = '/etc/kubernetes/straddle-rbac.yaml';
/** The address of a machine as cloud-init finds it out on many infrastructures. */
const MACHINE_ADDRESS = '{{ ds.meta_data.local_ipv4 }}';
const HEADER = `# Merge spec.kubeadmConfigSpec into the KubeadmControlPlane of your cluster.
# node-ip and advertiseAddress are the same address of the machine: replace the variable by that of your infrastructure.
# Without node-ip, a kubelet with an external cloud provider learns its address through the API server only, and Straddle,
# which needs the address, would wait for itself. The control-plane endpoint must be a load balancer before the machines.
`;

/**
 * Returns a KubeadmControlPlane of Cluster API in which every machine has a Straddle from its first boot. The kubelet starts the
 * static pod as soon as kubeadm has written the certificates; the rights are applied on each machine, which changes nothing
 * after the first.
 */
export function clusterApiExample(image: string, rbac: string): string {
  const patches = { directory: PATCHES_DIR };
  const nodeRegistration = { kubeletExtraArgs: { 'node-ip': MACHINE_ADDRESS } };
  const localAPIEndpoint = { advertiseAddress: MACHINE_ADDRESS, bindPort: 6443 };
  const files = [
    { path: `${MANIFESTS_DIR}/${STRADDLE_POD}`, permissions: '0600', content: straddlePod(sidecarOfAnyNode(), image) },
    ...kubeadmPatches(ANY_NODE).map(({ name, text }) => ({
      path: `${PATCHES_DIR}/${name}`,
      permissions: '0600',
      content: text,
    })),
    { path: RBAC_FILE, permissions: '0600', content: rbac },
  ].map((file) => ({ owner: 'root:root', ...file }));
  const example = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
    kind: 'KubeadmControlPlane',
    metadata: { name: 'example-control-plane' },
    spec: {
      replicas: 3,
      version: 'v1.36.4',
      machineTemplate: {
        infrastructureRef: {
          apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
          kind: 'ExampleMachineTemplate',
          name: 'example',
        },
      },
      kubeadmConfigSpec: {
        files,
        initConfiguration: { localAPIEndpoint, nodeRegistration, patches },
        joinConfiguration: { controlPlane: { localAPIEndpoint }, nodeRegistration, patches },
        postKubeadmCommands: [`kubectl --kubeconfig=/etc/kubernetes/admin.conf apply -f ${RBAC_FILE}`],
      },
    },
  };
  return `${HEADER}${yamlText(example)}`;
}

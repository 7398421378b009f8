import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../real/rig/eventually.js';
import { call, type Endpoint } from '../../real/rig/http-client.js';
import { Kubectl } from '../../real/rig/kubectl.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import type { RigProcess } from '../../real/rig/process.js';
import { CONFIG, kubeadmConfig } from './kubeadm-files.js';
import { endpointOf } from './kubeconfig-endpoint.js';
import { startLoadBalancer } from './load-balancer.js';
import { BALANCER_ADDRESS, Machine, PORT } from './machine.js';
import { StaticPods } from './static-pods.js';

const KUBELET = fileURLToPath(new URL('../kubelet/main.ts', import.meta.url));
const PKI = '/etc/kubernetes/pki';
/** What all machines of a control plane have in common; kubeadm makes the other certificates of each from these. */
const SHARED = ['ca', 'front-proxy-ca', 'etcd/ca'].flatMap((name) => [`${name}.crt`, `${name}.key`]);
const SHARED_PKI = [...SHARED, 'sa.key', 'sa.pub'].map((name) => `${PKI}/${name}`);
const ADMIN = '/etc/kubernetes/admin.conf';
/** Of the kubeconfigs that kubeadm writes. */
export const CONTEXT = 'kubernetes-admin@kubernetes';
export const CONTROL_PLANE_PODS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
/**
 * What `kubeadm upgrade node` is told beside: no images to pull, no addons, and etcd stays. It is one version here, and its members
 * have arguments of their own, while kubeadm keeps one set for the whole cluster.
 */
const UPGRADE_HERE = ['--skip-phases=preflight,addon', '--etcd-upgrade=false'];
const READY_TIMEOUT_MS = 120_000;

/** A machine with what runs on it. */
export interface Node {
  readonly name: string;
  readonly machine: Machine;
  readonly pods: StaticPods;
}

/** A control plane of three machines that kubeadm has made, with etcd on each and HAProxy before them. */
export class KubeadmCluster {
  private constructor(
    readonly dir: string,
    readonly nodes: readonly Node[],
    readonly balancer: RigProcess,
    readonly kubectl: Kubectl,
    private readonly say: (line: string) => void,
  ) {}

  static async create(dir: string, version: KubeVersion, say: (line: string) => void): Promise<KubeadmCluster> {
    const machines: Machine[] = [];
    for (const number of [1, 2, 3]) machines.push(await Machine.create(`cp-${number}`, `10.0.0.${number}`, dir));
    await makeFiles(machines, version, say);
    const nodes = machines.map((machine) => {
      const args = ['--import', import.meta.resolve('tsx'), KUBELET, machine.name, machine.address, machine.logDir];
      const kubelet = machine.start('kubelet', [process.execPath, ...args]);
      return { name: machine.name, machine, pods: new StaticPods(machine.name, kubelet) };
    });
    const kubectl = new Kubectl(machines[0]!.path(ADMIN), dir, version);
    const cluster = new KubeadmCluster(dir, nodes, startLoadBalancer(dir, machines), kubectl, say);
    await cluster.#bringUp(version);
    return cluster;
  }

  /** The admin, through the load balancer. */
  get admin(): Endpoint {
    return endpointOf(this.nodes[0]!.machine.path(ADMIN), `https://${BALANCER_ADDRESS}:${PORT}`);
  }

  /** The admin, at the address of one node. */
  adminAt({ machine }: Node): Endpoint {
    return endpointOf(this.nodes[0]!.machine.path(ADMIN), `https://${machine.address}:${PORT}`);
  }

  /** The kubeconfig of the admin, which names the load balancer. */
  get kubeconfig(): string {
    return this.nodes[0]!.machine.path(ADMIN);
  }

  /** Writes the version of the control plane into the cluster, where `kubeadm upgrade` reads it. */
  async announce(version: KubeVersion): Promise<void> {
    const { machine } = this.nodes[0]!;
    this.#configure(machine, version);
    machine.installPrograms(version);
    await machine.kubeadm('init', 'phase', 'upload-config', 'all', `--config=${CONFIG}`);
  }

  /** Brings a node to the announced version, upwards or back, with a command of kubeadm, and waits until its pods are ready. */
  async upgrade({ name, machine, pods }: Node, version: KubeVersion, command: string): Promise<void> {
    const startedMs = Date.now();
    machine.installPrograms(version);
    await machine.mustType(`${command} ${UPGRADE_HERE.join(' ')}`);
    await this.#run(pods, version);
    this.say(`${name} runs ${version.slice(1)} after ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
  }

  async #run(pods: StaticPods, version: KubeVersion): Promise<void> {
    for (const pod of CONTROL_PLANE_PODS) await pods.ready(pod, ({ image }) => image.endsWith(`:${version}`));
  }

  #configure(machine: Machine, version: KubeVersion): void {
    machine.write(
      CONFIG,
      kubeadmConfig(
        machine,
        this.nodes.map((each) => each.machine),
        version,
      ),
    );
  }

  async #bringUp(version: KubeVersion): Promise<void> {
    const startedMs = Date.now();
    for (const { machine } of this.nodes) await machine.kubeadm('init', 'phase', 'etcd', 'local', `--config=${CONFIG}`);
    for (const { pods } of this.nodes) await pods.ready('etcd');
    this.say(`etcd is ready after ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
    for (const { machine } of this.nodes) {
      await machine.kubeadm('init', 'phase', 'control-plane', 'all', `--config=${CONFIG}`);
    }
    for (const { pods } of this.nodes) await this.#run(pods, version);
    // It also binds admin.conf to its role.
    await this.announce(version);
    for (const { machine } of this.nodes) {
      await machine.kubeadm('init', 'phase', 'mark-control-plane', `--config=${CONFIG}`);
    }
    await this.reachable();
  }

  /** Waits until the load balancer leads to a server that serves. */
  async reachable(): Promise<void> {
    await eventually(
      'the control plane answers through HAProxy',
      async () => (await call(this.admin, '/readyz', { timeoutMs: 3_000 })).status === 200,
      { timeoutMs: READY_TIMEOUT_MS },
    );
  }
}

/** Certificates and kubeconfigs of all machines: the first one makes the authorities. */
async function makeFiles(
  machines: readonly Machine[],
  version: KubeVersion,
  say: (line: string) => void,
): Promise<void> {
  const startedMs = Date.now();
  const [first] = machines;
  for (const machine of machines) {
    machine.installPrograms(version);
    machine.write(CONFIG, kubeadmConfig(machine, machines, version));
    if (machine !== first) {
      for (const path of SHARED_PKI) {
        mkdirSync(dirname(machine.path(path)), { recursive: true });
        copyFileSync(first!.path(path), machine.path(path));
      }
    }
    await machine.kubeadm('init', 'phase', 'certs', 'all', `--config=${CONFIG}`);
    await machine.kubeadm('init', 'phase', 'kubeconfig', 'all', `--config=${CONFIG}`);
    await machine.kubeadm('init', 'phase', 'kubelet-start', `--config=${CONFIG}`);
  }
  say(`certificates and kubeconfigs are made after ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
}

import { binaryPath, programName } from '../../real/rig/binaries.js';
import { requireProgram } from '../../real/rig/debian-program.js';
import { eventually, GiveUp } from '../../real/rig/eventually.js';
import { call, type Endpoint, type KubeObject } from '../../real/rig/http-client.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import type { RigProcess } from '../../real/rig/process.js';
import { CONFIG, kubeadmConfig } from '../cluster/kubeadm-files.js';
import { endpointOf } from '../cluster/kubeconfig-endpoint.js';
import { startLoadBalancer } from '../cluster/load-balancer.js';
import { Machine, PORT } from '../cluster/machine.js';
import { importNodeImages, pauseImage } from './node-images.js';

const ADMIN = '/etc/kubernetes/admin.conf';
const CONTAINERD = '/etc/containerd/config.toml';
const SOCKET = '/run/containerd/containerd.sock';
/** A static pod that fails is started again after up to 40 seconds while a control plane comes up. */
const READY_TIMEOUT_MS = 240_000;
const LOOK_MS = 500;

export const NODE_NAME = 'node-1';
const NODE_ADDRESS = '10.0.0.21';
const CONTROL_PLANE = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

export interface NodeOptions {
  readonly dir: string;
  /** Folder of the images in files. */
  readonly images: string;
  readonly older: KubeVersion;
  readonly newer: KubeVersion;
  readonly cgroupRoot: string;
}

/**
 * A control plane of one node that kubeadm has made, whose kubelet is the real one and runs containers: containerd and runc of Debian.
 * Its pods are on the network of the node; there is no CNI.
 */
export class ContainerNode {
  #kubelet: RigProcess | undefined;

  private constructor(
    readonly machine: Machine,
    private readonly options: NodeOptions,
  ) {}

  static async create(options: NodeOptions, say: (line: string) => void): Promise<ContainerNode> {
    const { dir, images, older, newer } = options;
    const machine = await Machine.create(NODE_NAME, NODE_ADDRESS, dir, { withContainers: true });
    const node = new ContainerNode(machine, options);
    startLoadBalancer(dir, [machine]);
    const named = new Map<KubeVersion, readonly string[]>();
    for (const version of [newer, older]) named.set(version, await node.#configured(version));
    await node.#startContainerd(pauseImage(named.get(older)!));
    await importNodeImages(images, machine, named);
    say('containerd has the images');
    await node.#makeFiles();
    node.#startKubelet();
    await machine.kubeadm('init', 'phase', 'etcd', 'local', `--config=${CONFIG}`);
    await machine.kubeadm('init', 'phase', 'control-plane', 'all', `--config=${CONFIG}`);
    await node.#until('the kube-apiserver answers', async () => (await call(node.admin, '/readyz')).status === 200);
    // It also binds admin.conf to its role.
    await machine.kubeadm('init', 'phase', 'upload-config', 'all', `--config=${CONFIG}`);
    await node.runs(older);
    await machine.kubeadm('init', 'phase', 'mark-control-plane', `--config=${CONFIG}`);
    return node;
  }

  /** The admin, at the address of the node. */
  get admin(): Endpoint {
    return endpointOf(this.machine.path(ADMIN), `https://${NODE_ADDRESS}:${PORT}`);
  }

  /** Writes the version of the control plane into the cluster, where `kubeadm upgrade` reads it, and brings its programs. */
  async announce(version: KubeVersion): Promise<void> {
    await this.#configured(version);
    await this.machine.kubeadm('init', 'phase', 'upload-config', 'all', `--config=${CONFIG}`);
  }

  /** Waits until the pods of the control plane are those of a version, and ready. */
  async runs(version: KubeVersion): Promise<void> {
    for (const pod of CONTROL_PLANE) await this.ready(pod, `:${version}`);
  }

  /** Waits until the API shows a static pod as ready, with this end of its image's name. */
  ready(pod: string, imageEnd = ''): Promise<KubeObject> {
    return this.#until(`${pod} is ready`, async () => {
      const shown = await this.pod(pod);
      const status = shown?.['status']?.containerStatuses?.[0];
      if (status?.ready !== true) throw new Error(JSON.stringify(status?.state ?? shown?.['status']));
      return String(shown!['spec'].containers[0].image).endsWith(imageEnd) && shown;
    });
  }

  gone(pod: string): Promise<boolean> {
    return this.#until(`${pod} is gone`, async () => (await this.pod(pod)) === undefined);
  }

  /** The mirror pod of a static pod. */
  async pod(name: string): Promise<KubeObject | undefined> {
    const path = `/api/v1/namespaces/kube-system/pods/${name}-${NODE_NAME}`;
    const answer = await call(this.admin, path, { timeoutMs: 3_000 });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json();
  }

  /** The text of /proc/<pid>/<file> of the process in the container of a static pod. */
  async procFile(pod: string, file: string): Promise<string> {
    const { machine } = this;
    const filter = `labels."io.kubernetes.container.name"==${pod}`;
    const ids = (await machine.mustRun('ctr', '-n', 'k8s.io', 'containers', 'ls', '-q', filter)).trim().split('\n');
    const tasks = await machine.mustRun('ctr', '-n', 'k8s.io', 'tasks', 'ls');
    const running = tasks.split('\n').map((line) => line.trim().split(/\s+/));
    const [, pid] = running.find(([id, , state]) => ids.includes(id!) && state === 'RUNNING') ?? [];
    if (pid === undefined) throw new Error(`no container of ${pod} runs:\n${tasks}`);
    return machine.mustRun('cat', `/proc/${pid}/${file}`);
  }

  /** Ends the node with all its containers. */
  async end(): Promise<void> {
    await this.#kubelet?.stop();
    await this.machine.end();
  }

  /** Returns the images that kubeadm of this version wants. */
  async #configured(version: KubeVersion): Promise<readonly string[]> {
    const { machine } = this;
    machine.installPrograms(version);
    machine.write(CONFIG, kubeadmConfig(machine, [machine], version, [this.#kubeletConfiguration()]));
    return (await machine.kubeadm('config', 'images', 'list', `--config=${CONFIG}`)).trim().split('\n');
  }

  #kubeletConfiguration(): object {
    return {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      failCgroupV1: false,
      failSwapOn: false,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${this.options.cgroupRoot}`,
      // Neither of the machine that the test runs on, nor by the state of its disk.
      makeIPTablesUtilChains: false,
      enforceNodeAllocatable: [],
      localStorageCapacityIsolation: false,
      evictionHard: {
        'memory.available': '1Mi',
        'nodefs.available': '0%',
        'nodefs.inodesFree': '0%',
        'imagefs.available': '0%',
      },
      imageGCHighThresholdPercent: 100,
    };
  }

  async #makeFiles(): Promise<void> {
    const { machine } = this;
    machine.write('/etc/resolv.conf', '');
    await machine.kubeadm('init', 'phase', 'certs', 'all', `--config=${CONFIG}`);
    await machine.kubeadm('init', 'phase', 'kubeconfig', 'all', `--config=${CONFIG}`);
    await machine.kubeadm('init', 'phase', 'kubelet-start', `--config=${CONFIG}`);
  }

  async #startContainerd(sandboxImage: string): Promise<void> {
    const { machine } = this;
    machine.write(
      CONTAINERD,
      `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${sandboxImage}"
  # Without CAP_SYS_RESOURCE no process may get a lower value than its parent has.
  restrict_oom_score_adj = true
`,
    );
    const containerd = machine.start('containerd', [requireProgram('containerd', 'containerd'), '-c', CONTAINERD]);
    await eventually('containerd answers', async () => {
      if (!containerd.running) throw new GiveUp(`containerd ended:\n${containerd.logTail()}`);
      return (await machine.run('ctr', '--address', SOCKET, 'version')).code === 0;
    });
  }

  /** As the unit that kubeadm's packages install. */
  #startKubelet(): void {
    const { machine, options } = this;
    const flags = /KUBELET_KUBEADM_ARGS="(.*)"/.exec(machine.read('/var/lib/kubelet/kubeadm-flags.env'))?.[1] ?? '';
    const kubelet = binaryPath(programName('kubelet', options.older));
    this.#kubelet = machine.start('kubelet', [
      kubelet,
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet/config.yaml',
      `--node-ip=${NODE_ADDRESS}`,
      ...flags.split(' ').filter((flag) => flag !== ''),
    ]);
  }

  #until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    const patient = { timeoutMs: READY_TIMEOUT_MS, intervalMs: LOOK_MS };
    return eventually(
      what,
      () => {
        const kubelet = this.#kubelet;
        if (!kubelet?.running) throw new GiveUp(`the kubelet ended:\n${kubelet?.logTail()}`);
        return look();
      },
      patient,
    );
  }
}

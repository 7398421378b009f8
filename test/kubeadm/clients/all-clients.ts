import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CONFIG_MAPS, NAMESPACES, pathOf, type ResourceKind } from '../../../src/kube/resource-kind.js';
import { call, type Endpoint, keepAliveAgent } from '../../real/rig/http-client.js';
import { Informer, PROTOBUF_TYPE } from '../../real/rig/informer.js';
import { JobWriter } from '../../real/scenarios/watches/job-writer.js';
import { CONTEXT, type KubeadmCluster } from '../cluster/kubeadm-cluster.js';
import { inClusterClient, ServiceAddresses, serviceAccountToken } from './in-cluster-client.js';
import { NodeInformer } from './informers.js';
import { MeasuredClient } from './measured-client.js';
import { newerObject, resourceArgument } from './newer-object.js';
import { CutConnections, retriedGet } from './retried-get.js';
import { WriteLedger } from './write-ledger.js';

const NAMESPACE = 'load';
const READ = 'read';
const CONNECTIONS = 4;
/** A kubectl takes a quarter of a second of a processor. */
const KUBECTL_PER_SECOND = 0.25;
const WRITES_PER_SECOND = 5;
const READS_PER_SECOND = 10;
const READS_AT_A_NODE_PER_SECOND = 3;
/** No controller of Kubernetes acts on such a Job, so all changes of it are those of the test. */
const NOBODYS_JOB = { managedBy: 'example.test/nobody' };
const JOB_PAUSE_MS = 100;

/** All clients of the control plane, and what became of their requests. */
export class AllClients {
  readonly cuts = new CutConnections();
  readonly clients: MeasuredClient[] = [];
  /** Clients of the API that only the newer version serves; they run while a server has it. */
  readonly newer: MeasuredClient[] = [];
  readonly #delays = monitorEventLoopDelay();
  readonly #agents = Array.from({ length: 8 }, () => keepAliveAgent(CONNECTIONS));

  private constructor(
    private readonly cluster: KubeadmCluster,
    readonly ledger: WriteLedger,
    readonly jobs: JobWriter,
    readonly nodeInformer: NodeInformer,
    readonly goInformer: Informer,
    private readonly addresses: ServiceAddresses,
  ) {}

  static async start(cluster: KubeadmCluster): Promise<AllClients> {
    const { admin, kubeconfig, dir } = cluster;
    await create(admin, pathOf(NAMESPACES, ''), { metadata: { name: NAMESPACE } });
    await create(admin, pathOf(CONFIG_MAPS, NAMESPACE), { metadata: { name: READ } });
    const token = await serviceAccountToken(admin, NAMESPACE);
    const nodeInformer = await NodeInformer.start(kubeconfig, NAMESPACE);
    const goInformer = new Informer({
      dir,
      kubeconfig,
      context: CONTEXT,
      namespace: NAMESPACE,
      version: '0.37',
      contentType: PROTOBUF_TYPE,
    });
    await goInformer.synced();
    const ledger = new WriteLedger(admin, NAMESPACE, WRITES_PER_SECOND);
    const jobs = new JobWriter(admin, NAMESPACE, { spec: NOBODYS_JOB, pauseMs: JOB_PAUSE_MS });
    const addresses = await ServiceAddresses.start(admin);
    const made = new AllClients(cluster, ledger, jobs, nodeInformer, goInformer, addresses);
    made.#startReads(token);
    made.#delays.enable();
    return made;
  }

  /** The longest time for which this process itself did not run: a machine that is too busy shows here too. */
  get longestStallMs(): number {
    return this.#delays.max / 1e6;
  }

  get all(): readonly MeasuredClient[] {
    return [...this.clients, this.ledger.client, ...this.newer];
  }

  /** Starts the clients of the newer API, an object of which is created at a server that has it. */
  async startNewer(capable: Endpoint, kind: ResourceKind): Promise<void> {
    const collection = pathOf(kind, NAMESPACE);
    await create(capable, collection, newerObject(kind, READ));
    const path = `${collection}/${READ}`;
    this.newer.push(
      this.#reader('1.37’s API through HAProxy', this.cluster.admin, path, READS_PER_SECOND, 4),
      ...this.cluster.nodes.map((node, index) =>
        this.#reader(
          `1.37’s API at ${node.name}`,
          this.cluster.adminAt(node),
          path,
          READS_AT_A_NODE_PER_SECOND,
          5 + index,
        ),
      ),
      this.#kubectl('kubectl get of 1.37’s API', resourceArgument(kind)),
    );
  }

  async stopNewer(capable: Endpoint, kind: ResourceKind): Promise<void> {
    await Promise.all(this.newer.map((client) => client.stop()));
    await call(capable, `${pathOf(kind, NAMESPACE)}/${READ}`, { method: 'DELETE' });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.clients, ...this.newer].map((client) => client.stop()));
    await Promise.all([this.ledger.stop(), this.jobs.stop()]);
    this.addresses.stop();
    for (const agent of this.#agents) agent.destroy();
  }

  async stopInformers(): Promise<void> {
    await this.nodeInformer.stop();
    await this.goInformer.process.stop();
  }

  #startReads(token: string): void {
    const { cluster, addresses, cuts } = this;
    const path = pathOf(CONFIG_MAPS, NAMESPACE, READ);
    this.clients.push(
      this.#reader('reads through HAProxy', cluster.admin, path, READS_PER_SECOND, 0),
      ...cluster.nodes.map((node, index) =>
        this.#reader(`reads at ${node.name}`, cluster.adminAt(node), path, READS_AT_A_NODE_PER_SECOND, 1 + index),
      ),
      inClusterClient({
        addresses,
        ca: cluster.admin.ca,
        token,
        path,
        ratePerSecond: READS_AT_A_NODE_PER_SECOND,
        cuts,
      }),
      this.#kubectl('kubectl get', 'configmap'),
    );
  }

  #reader(name: string, endpoint: Endpoint, path: string, ratePerSecond: number, agentIndex: number): MeasuredClient {
    const agent = this.#agents[agentIndex]!;
    const send = () => retriedGet(endpoint, path, { agent, cuts: this.cuts });
    return new MeasuredClient({ name, ratePerSecond, good: [200], send });
  }

  #kubectl(name: string, resource: string): MeasuredClient {
    const send = async () => {
      const options = { context: CONTEXT };
      const { code, stderr } = await this.cluster.kubectl.try(
        options,
        'get',
        resource,
        READ,
        '-n',
        NAMESPACE,
        '-o',
        'name',
      );
      return { status: code === 0 ? 200 : kubectlStatus(stderr), text: stderr };
    };
    return new MeasuredClient({ name, ratePerSecond: KUBECTL_PER_SECOND, good: [200], send, inFlightMax: 1 });
  }
}

/** 404 is what kubectl says of a resource or an object that is not there; 0 any other failure. */
function kubectlStatus(stderr: string): number {
  return /NotFound|doesn't have a resource type|could not find the requested resource/.test(stderr) ? 404 : 0;
}

async function create(endpoint: Endpoint, collection: string, body: object): Promise<void> {
  const answer = await call(endpoint, collection, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`POST ${collection}: ${answer.status} ${answer.text.slice(0, 300)}`);
}

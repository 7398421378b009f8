import type { ResourceKind } from '../../../src/kube/resource-kind.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import type { AllClients } from '../clients/all-clients.js';
import type { Phase } from '../clients/measured-client.js';
import type { KubeadmCluster } from '../cluster/kubeadm-cluster.js';
import { Guide } from './guide.js';

export interface RunFacts {
  readonly older: KubeVersion;
  readonly newer: KubeVersion;
  /** An API that only the newer version serves. */
  readonly kind: ResourceKind;
  readonly cluster: KubeadmCluster;
  readonly say: (line: string) => void;
}

/** What the steps of a run share. */
export class RunContext {
  readonly phases: Phase[] = [];
  /** Harm by controllers that was found so far. */
  readonly harm: string[] = [];
  /** The files of each machine below /etc/kubernetes before Straddle came, by name of the machine and path. */
  readonly before = new Map<string, ReadonlyMap<string, string>>();
  readonly guide = new Guide();
  readonly older: KubeVersion;
  readonly newer: KubeVersion;
  readonly kind: ResourceKind;
  readonly cluster: KubeadmCluster;
  readonly say: (line: string) => void;
  #clients: AllClients | undefined;

  constructor({ older, newer, kind, cluster, say }: RunFacts) {
    this.older = older;
    this.newer = newer;
    this.kind = kind;
    this.cluster = cluster;
    this.say = say;
  }

  get clients(): AllClients {
    if (this.#clients === undefined) throw new Error('no step has started the clients');
    return this.#clients;
  }

  set clients(clients: AllClients) {
    this.#clients = clients;
  }
}

export interface Step {
  readonly name: string;
  readonly run: (context: RunContext) => Promise<void>;
}

import type { TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import { type Certificates, makeCertificates } from '../certificates.js';
import { startSidecar } from '../conformance/subject.js';
import { AGGREGATED, eventually, type LogLine, NOPEER } from '../control-plane.js';
import { type Flags, startEmbedded, temporaryDirectory } from '../embedded-server.js';
import { COMMON, FakeApiServer, type Served } from '../fake-apiserver.js';
import { type Answer, type Ask, ask } from '../https-client.js';
import { SharedStorage } from '../shared-storage.js';
import { type DiscoveryGroup, definitionOf } from './discovery-groups.js';
import { DEFINITIONS, type HostName, LEASES } from './mixed-plane.js';

export const ALL = 'create delete get list patch update watch';

/** A resource that the server serves without all verbs, with either host. */
export const CREATE_ONLY = 'authentication.k8s.io/v1/tokenreviews';

/** The server of the tests and its host. */
interface Host {
  readonly port: number;
  close(): Promise<void>;
}

/** Long enough that no peer departs on a busy machine; tests that want a departure set their own. */
const PATIENT: Flags = { 'server-name': 'local', 'peer-gone-after': '30s' };
const LEASE_SECONDS = 3600;
const PEER_ADDRESS = 'kubernetes.io/peer-advertise-address';
const GROUP_OF_TESTS = /\.example\.com$/;

/**
 * One server, whose peers are played and announced to it by identity leases in its own storage. With the upstream host a
 * played API server is behind it, with the embedded host it is `straddle apiserver`, and its APIs are made by definitions.
 */
export class ServerWithPeers {
  readonly certificates: Certificates = makeCertificates();
  readonly admin: TestCertificate = this.certificates.user('admin', 'system:masters');
  readonly log: LogLine[] = [];
  readonly #peers: FakeApiServer[] = [];
  #running: Host | undefined;
  #anchor: Served = {};

  constructor(readonly host: HostName) {}

  /** `serves`: its own APIs, in groups under example.com, besides those that every server has. */
  async start(serves: Served = {}, flags: Flags = {}): Promise<void> {
    const own = { ...PATIENT, ...flags };
    this.#running =
      this.host === 'embedded' ? await this.#startEmbedded(serves, own) : await this.#startSidecar(serves, own);
    this.#anchor = await this.#lastBuiltIn();
  }

  /** The last built-in group of the server. Peers serve it, too: groups of definitions come after the built-in ones. */
  async #lastBuiltIn(): Promise<Served> {
    const { items } = (await this.discovery(NOPEER)).json<{ items: DiscoveryGroup[] }>();
    const last = items.filter(({ metadata }) => !GROUP_OF_TESTS.test(metadata.name ?? '')).at(-1)!;
    const { version, resources } = last.versions[0]!;
    return { [`${last.metadata.name}/${version}/${resources[0]!.resource}`]: resources[0]!.verbs.join(' ') };
  }

  async #startSidecar(serves: Served, flags: Flags): Promise<Host> {
    const served = { ...COMMON, [CREATE_ONLY]: 'create', ...serves };
    const api = new FakeApiServer(this.certificates, new SharedStorage(), served);
    await api.start();
    const sidecar = await startSidecar(this.certificates, api, flags, this.log);
    return { port: sidecar.port, close: () => sidecar.close().then(() => api.stop()) };
  }

  async #startEmbedded(serves: Served, flags: Flags): Promise<Host> {
    const store = temporaryDirectory();
    const server = await startEmbedded(this.certificates, store.path, flags, this.log);
    this.#running = { port: server.port, close: () => server.close().finally(() => store.remove()) };
    for (const resource of Object.keys(serves)) await this.#define(resource);
    return this.#running;
  }

  async #define(path: string): Promise<void> {
    const [group, version, plural] = path.split('/') as [string, string, string];
    if (version !== 'v1') throw new Error(`${path}: definitions have version v1`);
    const made = await this.ask(DEFINITIONS, { method: 'POST', body: definitionOf(group, plural, `${plural}kind`) });
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`);
    await eventually(
      `${path} to be served`,
      () => this.ask(`/apis/${group}/${version}/${plural}`),
      ({ status }) => status === 200,
    );
  }

  /** A peer that serves these APIs and one built-in group, known to the server when this resolves. */
  async peer(name: string, serves: Served, kubernetesVersion?: string): Promise<FakeApiServer> {
    const api = await this.unannounced(serves, kubernetesVersion);
    await this.announce(name, api);
    await this.knows(name);
    return api;
  }

  async unannounced(serves: Served, kubernetesVersion?: string): Promise<FakeApiServer> {
    const api = new FakeApiServer(
      this.certificates,
      new SharedStorage(),
      { ...this.#anchor, ...serves },
      kubernetesVersion,
    );
    await api.start();
    this.#peers.push(api);
    return api;
  }

  /** Makes the identity lease of a kube-apiserver on a host of that name; without an API server it has no address. */
  async announce(name: string, api?: { readonly port: number }): Promise<void> {
    const address = api ? { [PEER_ADDRESS]: `127.0.0.1:${api.port}` } : {};
    const made = await this.ask(LEASES, { method: 'POST', body: leaseOf(name, address) });
    if (made.status !== 201) throw new Error(`lease of ${name}: ${made.text}`);
  }

  /** As after a restart of the peer. */
  changeHolder(name: string): Promise<void> {
    const { spec } = leaseOf(name, {});
    return this.#changeLease(name, { spec: { ...spec, holderIdentity: `${leaseName(name)}_2` } });
  }

  async #changeLease(name: string, change: object): Promise<void> {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const changed = await this.ask(`${LEASES}/${leaseName(name)}`, { method: 'PATCH', body: change, headers });
    if (changed.status !== 200) throw new Error(`lease of ${name}: ${changed.text}`);
  }

  loseAddress(name: string): Promise<void> {
    return this.#changeLease(name, { metadata: { annotations: { [PEER_ADDRESS]: '' } } });
  }

  async deleteLease(name: string): Promise<void> {
    await this.ask(`${LEASES}/${leaseName(name)}`, { method: 'DELETE' });
  }

  /** Waits until the discovery of a peer was read. */
  async knows(peer: string): Promise<void> {
    await eventually(
      `discovery of ${peer} to be read`,
      () => this.metrics(),
      (text) => text.includes(`straddle_surface_age_seconds{server="${peer}"}`),
    );
  }

  ask(path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port: this.#running!.port, ca: this.certificates.ca.pem }, path, { as: this.admin, ...options });
  }

  /** As a front proxy that has rerouted a request of the administrator here. */
  askAsPeer(path: string): Promise<Answer> {
    const headers = {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
      'X-Kubernetes-Peer-Proxied': 'true',
    };
    return this.ask(path, { as: this.certificates.frontProxy, headers });
  }

  discovery(accept = AGGREGATED, more: Record<string, string> = {}): Promise<Answer> {
    return this.ask('/apis', { headers: { Accept: accept, ...more } });
  }

  /** The groups of a test in merged discovery, once they are as expected. */
  merged(isSo: (groups: readonly DiscoveryGroup[]) => boolean): Promise<DiscoveryGroup[]> {
    return eventually('merged discovery', async () => groupsOfTest(await this.discovery()), isSo);
  }

  async metrics(): Promise<string> {
    return (await this.ask('/metrics')).text;
  }

  /** Value of a series; 0 while it does not exist. */
  async metric(series: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  async close(): Promise<void> {
    await this.#running?.close();
    for (const peer of this.#peers) await peer.stop();
    this.certificates.remove();
  }
}

/** Requests of the administrator that reached an API server: Straddle's own have other users. */
export function requestsAt(api: FakeApiServer): string[] {
  return api.requests.filter(({ user }) => user === 'admin').map(({ method, url }) => `${method} ${url}`);
}

/** The groups under example.com of an aggregated document. */
export function groupsOfTest(answer: Answer): DiscoveryGroup[] {
  const { items } = answer.json<{ items: DiscoveryGroup[] }>();
  return items.filter(({ metadata }) => GROUP_OF_TESTS.test(metadata.name ?? ''));
}

export function groupNames(answer: Answer): string[] {
  return groupsOfTest(answer).map(({ metadata }) => metadata.name!);
}

function leaseName(name: string): string {
  return `apiserver-${name}`;
}

function leaseOf(name: string, annotations: Record<string, string>) {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: leaseName(name),
      namespace: 'kube-system',
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': name },
      annotations,
    },
    spec: {
      holderIdentity: `${leaseName(name)}_1`,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  };
}

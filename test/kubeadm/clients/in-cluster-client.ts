import { setTimeout as delay } from 'node:timers/promises';
import { call, type Endpoint } from '../../real/rig/http-client.js';
import { MeasuredClient } from './measured-client.js';
import { type CutConnections, retriedGet } from './retried-get.js';

const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
const LOOK_MS = 500;

interface Slice {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
  readonly ports?: readonly { readonly port: number }[];
}

/** The part of a kube-proxy: it knows the addresses of Service `kubernetes`, and asks for them again and again. */
export class ServiceAddresses {
  #urls: readonly string[] = [];
  #next = 0;
  #stopped = false;

  private constructor(private readonly endpoint: Endpoint) {}

  static async start(endpoint: Endpoint): Promise<ServiceAddresses> {
    const addresses = new ServiceAddresses(endpoint);
    await addresses.#look();
    void addresses.#run();
    return addresses;
  }

  get all(): readonly string[] {
    return this.#urls;
  }

  /** The next address, one after the other. */
  next(): string {
    const url = this.#urls[this.#next++ % this.#urls.length];
    if (url === undefined) throw new Error('Service kubernetes has no address');
    return url;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await delay(LOOK_MS);
      // What is known stays until it can be read again.
      await this.#look().catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const answer = await call(this.endpoint, SLICE, { timeoutMs: 5_000 });
    if (answer.status !== 200) throw new Error(`${SLICE}: ${answer.status} ${answer.text.slice(0, 200)}`);
    const { endpoints = [], ports = [] } = answer.json<Slice>();
    const port = ports[0]?.port ?? 443;
    this.#urls = endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses.map((address) => `https://${address}:${port}`));
  }
}

/** Makes a service account that may read one namespace, and returns its token. */
export async function serviceAccountToken(admin: Endpoint, namespace: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await call(admin, path, { method: 'POST', body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer.json();
  };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await post(accounts, { metadata: { name: 'reader' } });
  await post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
  });
  const made = await post(`${accounts}/reader/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  return made['status'].token as string;
}

/** A pod's way to the API: a service account, a new connection for each request, the addresses of Service `kubernetes` in turn. */
export function inClusterClient(given: {
  readonly addresses: ServiceAddresses;
  readonly ca: string;
  readonly token: string;
  readonly path: string;
  readonly ratePerSecond: number;
  readonly cuts: CutConnections;
}): MeasuredClient {
  const { addresses, ca, token, path, ratePerSecond, cuts } = given;
  return new MeasuredClient({
    name: 'in-cluster client (EndpointSlice)',
    ratePerSecond,
    good: [200],
    send: () => retriedGet({ url: addresses.next(), ca, token }, path, { cuts }),
  });
}

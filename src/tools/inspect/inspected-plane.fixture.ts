import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCa, makeServer, type TestCertificate } from '../../http/tls/pki.fixture.js';
import type { JsonObject } from '../../kube/json.js';
import type { Credentials } from './ask.js';

/** How one server of a made-up control plane is, with every fault that an operator can make. */
export interface FakeServer {
  readonly name: string;
  readonly kind: 'straddle' | 'native' | 'plain';
  readonly version?: string;
  readonly certificate?: Parameters<typeof makeServer>[1];
  /** Issues the certificate; the CA of the plane by default. */
  readonly ca?: TestCertificate;
  readonly gate?: boolean;
  readonly peerCa?: boolean;
  /** Names of the servers that it reaches; all by default. */
  readonly reaches?: readonly string[];
  /** Common name of what it shows to peers; undefined: nothing. */
  readonly frontProxy?: string | undefined;
  readonly clockOffMs?: number;
  readonly leaseAgeMs?: number;
  readonly lease?: false;
  readonly reroutes?: number;
  /** Passthrough is on. */
  readonly passthrough?: true;
  /** Value of the metric for the time of the switch; that of NOW_MS by default. */
  readonly passthroughSince?: string;
  /** `group/version/resource[/subresource]` → verbs. */
  readonly serves?: Readonly<Record<string, string>>;
  /** What its merged discovery has beside what servers serve, as it remembers departed ones. */
  readonly remembers?: Readonly<Record<string, string>>;
  /** Further lines of its metrics. */
  readonly metrics?: string;
  /** Does not answer at all. */
  readonly down?: boolean;
  readonly forbidden?: readonly string[];
  /** Recorded replies; without them the pages are not served. */
  readonly zpages?: FakeZpages;
  /** Replies to the order to switch without obeying it. */
  readonly stuck?: true;
  /**
   * Of a Straddle: the API server behind it is down. `older`: it replies to requests about its own server by way of another one, as
   * releases did before they were asked in another way.
   */
  readonly serverDown?: true | 'older';
  /** More of its lease's annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type FakeZpages = Readonly<Record<'/statusz' | '/flagz', { readonly status: number; readonly text: string }>>;

interface Running {
  readonly fake: FakeServer;
  readonly server: Server;
  address: string;
}

/** Early in a second: Date headers have whole ones. */
export const NOW_MS = Math.floor(Date.now() / 1_000) * 1_000 + 300;
const YEAR_SECONDS = 31_536_000;

/** Servers on addresses of their own, each with real TLS; all of them answer for the one store. */
export class FakePlane {
  readonly ca = makeCa('kubernetes');
  readonly frontProxyCa = makeCa('front-proxy-ca');
  allowedNames: readonly string[] = ['front-proxy-client'];
  readonly pods: JsonObject[] = [];
  /** Names of servers, or addresses, in the EndpointSlice of Service kubernetes. */
  readonly published: string[] = [];
  readonly definitions: JsonObject[] = [];
  readonly storageVersions: JsonObject[] = [];
  /** Replies of every server by path, without the query; a function gets the query. */
  readonly pages = new Map<string, JsonObject | ((query: URLSearchParams) => JsonObject)>();
  /** Names of servers that were given a token. */
  readonly trusted = new Set<string>();
  /** Names of servers with passthrough on, by order. */
  readonly switched = new Map<string, string>();
  readonly #running: Running[] = [];

  async start(...fakes: readonly FakeServer[]): Promise<this> {
    const taken = this.#running.length;
    for (const [index, fake] of fakes.entries()) {
      const host = `127.0.0.${61 + taken + index}`;
      const certificate = makeServer(fake.ca ?? this.ca, {
        dnsNames: ['kubernetes.default.svc', fake.name],
        ipAddresses: [host],
        ...fake.certificate,
      });
      const running: Running = {
        fake,
        address: '',
        server: createServer({ key: certificate.keyPem, cert: certificate.pem }, (req, res) =>
          this.#answer(running, req, res),
        ),
      };
      await new Promise<void>((resolve) => running.server.listen(0, host, resolve));
      running.address = `${host}:${(running.server.address() as AddressInfo).port}`;
      this.#running.push(running);
      if (fake.down) await close(running.server);
    }
    return this;
  }

  address(name: string): string {
    return this.#running.find(({ fake }) => fake.name === name)!.address;
  }

  get credentials(): Credentials {
    return { ca: this.ca.pem, clientCert: undefined, clientKey: undefined, token: 't', insecureSkipTlsVerify: false };
  }

  /** As by a kubeconfig that names this server. */
  door(name: string) {
    const [host] = this.address(name).split(':');
    return {
      url: `https://${this.address(name)}`,
      serverName: host,
      credentials: this.credentials,
      nowMs: () => NOW_MS,
      timeoutMs: 4_000,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map(({ server }) => close(server)));
  }

  #answer({ fake }: Running, req: IncomingMessage, res: ServerResponse): void {
    if (req.headers.authorization !== undefined) this.trusted.add(fake.name);
    const path = (req.url ?? '').split('?')[0]!;
    if (path === '/straddle/passthrough' && fake.kind === 'straddle' && !fake.forbidden?.includes(path)) {
      void this.#switch(fake, req, res);
      return;
    }
    const isHealth = path === '/readyz' && fake.kind === 'straddle';
    const send = (status: number, body: unknown) => {
      res.writeHead(status, {
        'content-type': 'application/json',
        ...(isHealth ? { 'X-Straddle-Server': 'true' } : {}),
        date: new Date(NOW_MS + (fake.clockOffMs ?? 0)).toUTCString(),
      });
      res.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const zpage = path === '/statusz' || path === '/flagz' ? fake.zpages?.[path] : undefined;
    const asksItself = req.headers['x-kubernetes-peer-proxied'] === 'true' && fake.serverDown !== 'older';
    if (fake.serverDown && asksItself && isHealth) {
      send(
        503,
        readyz(fake).replace('[+]api-server ok', '[-]api-server failed: the local API server takes no requests'),
      );
      return;
    }
    if (fake.serverDown && asksItself && path === '/version') {
      send(503, { kind: 'Status', code: 503 });
      return;
    }
    const isForbidden = fake.forbidden?.some((part) => path.includes(part));
    const page = this.pages.get(path);
    const given = typeof page === 'function' ? page(new URL(req.url ?? '', 'https://plane').searchParams) : page;
    const body = isForbidden ? undefined : (given ?? this.#page(fake, path, req.headers.accept ?? ''));
    if (zpage && !isForbidden) send(zpage.status, zpage.text);
    else send(isForbidden ? 403 : body === undefined ? 404 : 200, body ?? { kind: 'Status' });
  }

  async #switch({ name, stuck }: FakeServer, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.method === 'POST' && !stuck) {
      const { on, reason } = JSON.parse(Buffer.concat(chunks).toString()) as { on: boolean; reason: string };
      if (on) this.switched.set(name, reason);
      else this.switched.delete(name);
    }
    const reason = this.switched.get(name);
    const since = new Date(NOW_MS).toISOString();
    const page = { kind: 'StraddlePassthrough', on: reason !== undefined, since, reason: reason ?? '', notKept: null };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  }

  #page(fake: FakeServer, path: string, accept: string): unknown {
    switch (path) {
      case '/version':
        return { gitVersion: fake.version ?? 'v1.36.4', goVersion: 'go1.25' };
      case '/readyz':
        return readyz(fake);
      case '/metrics':
        return this.#metrics(fake);
      case '/api':
      case '/apis':
        return discovery(accept.includes('nopeer') ? [fake] : this.#seenBy(fake), path === '/api');
      case '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases':
        return { items: this.#running.flatMap((each) => lease(each)) };
      case '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices':
        return { items: this.published.map((each) => slice(each.includes(':') ? each : this.address(each))) };
      case '/api/v1/namespaces/kube-system/pods':
        return { items: this.pods };
      case '/apis/apiextensions.k8s.io/v1/customresourcedefinitions':
        return { items: this.definitions };
      case '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions':
        return this.storageVersions.length > 0 ? { items: this.storageVersions } : undefined;
      case '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication':
        return {
          data: {
            'requestheader-client-ca-file': this.frontProxyCa.pem,
            'requestheader-allowed-names': JSON.stringify(this.allowedNames),
          },
        };
      default:
        return undefined;
    }
  }

  #seenBy(fake: FakeServer): FakeServer[] {
    const active = fake.kind !== 'plain' && fake.gate !== false && fake.peerCa !== false;
    const remembered = fake.remembers ? [{ ...fake, serves: fake.remembers }] : [];
    const reached = this.#running.map((each) => each.fake).filter(({ name }) => fake.reaches?.includes(name) ?? true);
    return active ? [fake, ...reached, ...remembered] : [fake];
  }

  /** The same lines that a Straddle, or a kube-apiserver, has for such a state. */
  #metrics(fake: FakeServer): string {
    const gate = `kubernetes_feature_enabled{name="UnknownVersionInteroperabilityProxy",stage="BETA"} ${fake.gate === false || fake.kind === 'plain' ? 0 : 1}\n`;
    if (fake.kind !== 'straddle') return `# TYPE apiserver_peer_discovery_sync_errors_total counter\n${gate}`;
    const active = fake.gate !== false && fake.peerCa !== false;
    const isGone = ({ down, leaseAgeMs = 0 }: FakeServer): boolean => down === true && leaseAgeMs > 40_000;
    const peers = this.#running.filter(
      (each) => active && each.fake !== fake && each.fake.lease !== false && !isGone(each.fake),
    );
    const frontProxy = 'frontProxy' in fake ? fake.frontProxy : 'front-proxy-client';
    return [
      gate,
      `straddle_host_ready ${fake.serverDown ? 0 : 1}\n`,
      `straddle_passthrough ${fake.passthrough ? 1 : 0}\n`,
      ...(fake.passthrough ? [`straddle_passthrough_since_seconds ${fake.passthroughSince ?? NOW_MS / 1_000}\n`] : []),
      '# TYPE straddle_peer_usable gauge\n',
      `apiserver_rerouted_request_total{code="200",group="a",version="v1",resource="b"} ${fake.reroutes ?? 0}\n`,
      `straddle_surface_age_seconds{server="${fake.name}"} 1.5\n`,
      fake.metrics ?? '',
      ...peers.map(({ fake: peer, address }) => {
        const reached = fake.reaches?.includes(peer.name) ?? true;
        const age = reached ? `straddle_surface_age_seconds{server="${peer.name}"} 2\n` : '';
        return `straddle_peer_usable{peer="${peer.name}",address="${address}",kind="straddle"} ${reached ? 1 : 0}\n${age}`;
      }),
      '# TYPE straddle_front_proxy_certificate_expiry_seconds gauge\n',
      ...(frontProxy === undefined
        ? []
        : [
            `straddle_front_proxy_certificate_expiry_seconds{common_name="${frontProxy}"} ${NOW_MS / 1_000 + YEAR_SECONDS}\n`,
          ]),
    ].join('');
  }
}

function readyz({ kind, gate = true, peerCa = true, passthrough }: FakeServer): string {
  const on = gate && peerCa;
  const checks =
    kind === 'straddle'
      ? [
          'shutdown',
          'api-server',
          ...(on ? ['local-surface', 'peer-directory'] : []),
          ...(passthrough ? ['passthrough'] : []),
        ]
      : [
          'ping',
          'etcd',
          ...(kind === 'native' && gate ? ['poststarthook/peer-endpoint-reconciler-controller'] : []),
          ...(kind === 'native' && on ? ['poststarthook/mixed-version-proxy-handler'] : []),
        ];
  return `${checks.map((name) => `[+]${name} ok`).join('\n')}\nreadyz check passed\n`;
}

/** Each address may have a port of its own here, so each has a slice. */
function slice(address: string): JsonObject {
  const [ip = '', port] = address.split(':');
  return { endpoints: [{ addresses: [ip] }], ports: [{ name: 'https', port: Number(port) }] };
}

function lease({ fake, address }: Running): JsonObject[] {
  if (fake.lease === false) return [];
  return [
    {
      metadata: {
        name: `lease-${fake.name}`,
        labels: {
          'apiserver.kubernetes.io/identity': fake.kind === 'straddle' ? 'straddle' : 'kube-apiserver',
          'kubernetes.io/hostname': fake.name,
        },
        annotations: { 'kubernetes.io/peer-advertise-address': address, ...fake.annotations },
      },
      spec: {
        renewTime: new Date(NOW_MS - (fake.leaseAgeMs ?? 3_000)).toISOString(),
        leaseDurationSeconds: fake.kind === 'straddle' ? 40 : 3_600,
      },
    },
  ];
}

/** Aggregated discovery of all that these serve. */
function discovery(fakes: readonly FakeServer[], core: boolean): JsonObject {
  const served = new Map(fakes.flatMap(({ serves }) => Object.entries(serves ?? { '/v1/pods': 'get list' })));
  const groups = new Map<string, Map<string, Map<string, JsonObject>>>();
  for (const [key, verbs] of served) {
    const [group = '', version = '', resource = '', subresource] = key.split('/');
    if ((group === '') !== core) continue;
    const versions = groups.get(group) ?? new Map<string, Map<string, JsonObject>>();
    groups.set(group, versions);
    const resources = versions.get(version) ?? new Map<string, JsonObject>();
    versions.set(version, resources);
    const entry = resources.get(resource) ?? { resource, verbs: [], subresources: [] };
    resources.set(resource, entry);
    if (subresource === undefined) entry['verbs'] = verbs.split(' ');
    else (entry['subresources'] as JsonObject[]).push({ subresource, verbs: verbs.split(' ') });
  }
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [...groups].map(([name, versions]) => ({
      metadata: name === '' ? {} : { name },
      versions: [...versions].map(([version, resources]) => ({ version, resources: [...resources.values()] })),
    })),
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

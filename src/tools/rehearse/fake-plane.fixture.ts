import type { IncomingMessage, ServerResponse } from 'node:http';
import { CONFIG_MAPS, FakeApi, NAMESPACES, POD_GROUPS } from '../../apiserver/controllers/fake-api.fixture.js';
import type { ApiRequest } from '../../kube/client/api-client.js';
import type { JsonObject } from '../../kube/json.js';
import { startHttpsServer } from './https-server.fixture.js';
import { MixedApi } from './mixed-api.fixture.js';
import type { RehearsalPlane, RehearsalServer } from './rehearsal-plane.js';

/** Two servers of memory behind one address each, and a front door that deals requests out in turn. */
export class FakePlane implements RehearsalPlane {
  readonly kubeconfig = '/nowhere';
  readonly replaced: string[] = [];
  closed = 0;
  /** Received at any address. */
  requests = 0;
  /** Called before a server is replaced. */
  onReplace: (server: string, version: string) => void = () => {};
  front!: RehearsalServer['access'];
  servers: RehearsalServer[] = [];
  readonly #newer: string;
  readonly #store = new FakeApi([NAMESPACES, CONFIG_MAPS, POD_GROUPS]);
  readonly #closings: (() => void)[] = [];
  #turn = 0;

  private constructor(newer: string) {
    this.#newer = newer;
  }

  /** `newer`: the version that serves PodGroups. */
  static async start(versions: readonly string[], newer: string): Promise<FakePlane> {
    const plane = new FakePlane(newer);
    const versionOf = (index: number): string => plane.servers[index % plane.servers.length]!.version;
    for (const [index, version] of versions.entries()) {
      const access = await plane.#listen(() => versionOf(index));
      plane.servers.push({ name: `server-${index + 1}`, version, access });
    }
    plane.front = await plane.#listen(() => versionOf(plane.#turn++));
    return plane;
  }

  async replace(server: string, version: string): Promise<void> {
    this.onReplace(server, version);
    this.replaced.push(`${server} ${version}`);
    this.servers = this.servers.map((each) => (each.name === server ? { ...each, version } : each));
  }

  async close(): Promise<void> {
    this.closed += 1;
    for (const each of this.#closings) each();
  }

  async #listen(version: () => string): Promise<RehearsalServer['access']> {
    const api = new MixedApi(this.#store, () => (version() === this.#newer ? 'newer' : 'older'));
    const { access, close } = await startHttpsServer((request, response) => {
      this.requests += 1;
      void answer(api, request, response);
    });
    this.#closings.push(close);
    return access;
  }
}

async function answer(api: MixedApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url!;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  // A watch that nothing comes of.
  if (target.includes('watch=true')) return void response.flushHeaders();
  if (target === '/api' || target === '/apis') {
    const { groups } = await api.discover();
    const items = groups.filter(({ metadata }) => (target === '/api') === (metadata.name === undefined));
    return void response.end(
      JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items }),
    );
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const method = request.method as ApiRequest['method'];
  const body = text === '' ? {} : { body: JSON.parse(text) as JsonObject };
  const result = await api.request({ method, target, ...body });
  response.writeHead(result.status, { 'content-type': 'application/json' }).end(JSON.stringify(result.body));
}

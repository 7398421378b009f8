import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { ManualClock } from '../../src/base/manual-clock.fixture.js';
import type { Exchange, Handler, Reply } from '../../src/http/exchange.js';
import { headerValue } from '../../src/http/headers.js';
import type { GroupDiscovery, ResourceDiscovery } from '../../src/kube/discovery.js';
import { parseRequestInfo, type RequestInfo } from '../../src/kube/request-info.js';
import { serves } from '../../src/kube/surface.js';
import { discoveryFilter } from '../../src/proxy/chain/discovery-filter.js';
import { DocumentFetcher } from '../../src/proxy/discovery/document-fetch.js';
import { exchangeFor } from '../../src/proxy/discovery/exchange.fixture.js';
import { LegacyDiscovery } from '../../src/proxy/discovery/legacy-discovery.js';
import type { ServerSurface } from '../../src/proxy/discovery/merge.js';
import { permission } from '../../src/proxy/discovery/permission.js';
import { StorageHashReader } from '../../src/proxy/discovery/storage-hashes.js';
import { arbitraryServers } from '../../src/proxy/discovery/surface.fixture.js';
import { ViewCache } from '../../src/proxy/discovery/view-cache.js';
import type { PeerTable } from '../../src/proxy/peers/peer-table.js';
import { buildPeerTable } from '../../src/proxy/peers/table-index.js';
import { route } from '../../src/proxy/routing/route.js';

/** Each run builds whole control planes and asks them hundreds of times. */
const RUNS = { numRuns: 40 };
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** One Straddle of a control plane: what it knows of the others, and its answers to discovery requests. */
interface Standpoint {
  readonly self: ServerSurface;
  readonly table: PeerTable;
  ask(path: string, accept: string): Promise<{ text: string; etag: string | undefined }>;
}

function standpoint(self: ServerSurface, servers: readonly ServerSurface[]): Standpoint {
  const others = servers.filter((server) => server !== self);
  const peers = others
    .filter((server) => !server.departed)
    .map(({ identity, surface }) => ({ identity, surface, endpoints: [] }));
  const departed = others
    .filter((server) => server.departed)
    .map(({ identity, surface }) => ({ identity, surface, departedAtMs: 0 }));
  const table = buildPeerTable({ peers, departed, unread: [] });
  const handle = filterOf(self, table);
  return {
    self,
    table,
    ask: async (path, accept) => {
      const reply = await handle(exchangeFor(path, { headers: ['Accept', accept] }));
      expect(reply.status).toBe(200);
      return { text: textOf(reply), etag: headerValue(reply.headers, 'etag') };
    },
  };
}

function filterOf(self: ServerSurface, table: PeerTable): Handler {
  const clock = new ManualClock();
  const nobody = { cacheHit: () => {}, cacheMiss: () => {} };
  const fetcher = new DocumentFetcher({
    // Storage version hashes come from the servers' own legacy lists; here no server has any.
    send: async () => ({
      status: 200,
      headers: ['Content-Type', 'application/json'],
      body: Buffer.from('{"kind":"APIResourceList","resources":[]}'),
    }),
    clock,
    logger: silentLogger,
    onFault: () => {},
  });
  const views = new ViewCache({ self: self.identity, local: () => self.surface, peers: () => table }, nobody);
  return discoveryFilter({
    active: () => true,
    views,
    legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
    authorize: permission(clock),
    clock,
    hooks: { nopeer: () => {} },
  }).wrap(hostAnswer);
}

/** The API server behind the filter: authorizes everybody, and has the address part of `/api`. */
async function hostAnswer({ target }: Exchange): Promise<Reply> {
  const apiVersions = { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  const body = Buffer.from(JSON.stringify(target === '/api' ? apiVersions : {}));
  return { status: 200, headers: ['Content-Type', 'application/json'], body };
}

function textOf(reply: Reply): string {
  return Buffer.from((reply.body ?? Buffer.alloc(0)) as Uint8Array).toString();
}

/** A control plane in which somebody else lives besides each server that answers. */
const controlPlanes = arbitraryServers.filter(
  (servers) => servers.length > 1 && servers.some((server) => !server.departed),
);

function everyStandpoint(servers: readonly ServerSurface[]): Standpoint[] {
  return servers.filter((server) => !server.departed).map((server) => standpoint(server, servers));
}

interface Advertised {
  readonly group: string;
  readonly version: string;
  readonly resource: ResourceDiscovery;
}

async function advertised(at: Standpoint): Promise<Advertised[]> {
  const found: Advertised[] = [];
  for (const path of ['/api', '/apis']) {
    const { items } = JSON.parse((await at.ask(path, AGGREGATED)).text) as { items: GroupDiscovery[] };
    for (const group of items) {
      for (const { version, resources = [] } of group.versions ?? []) {
        for (const resource of resources) found.push({ group: group.metadata.name ?? '', version, resource });
      }
    }
  }
  return found;
}

/** The requests that a client may make of a resource because discovery lists these verbs. */
function requestsFor({ group, version, resource }: Advertised): RequestInfo[] {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = resource.scope === 'Cluster' ? '' : '/namespaces/ns';
  const collection = `${root}${scope}/${resource.resource}`;
  const one = `${collection}/name`;
  return [
    ...(resource.verbs ?? []).map((verb) => requestOf(verb, collection, one)),
    ...(resource.subresources ?? []).flatMap((sub) =>
      // Discovery of subresources may list verbs of collections; they are asked of the one path there is.
      (sub.verbs ?? []).map((verb) => ({
        ...requestOf(verb, `${one}/${sub.subresource}`, `${one}/${sub.subresource}`),
        verb,
      })),
    ),
  ];
}

const METHODS: Readonly<Record<string, readonly [method: string, on: 'collection' | 'one', query: string]>> = {
  get: ['GET', 'one', ''],
  list: ['GET', 'collection', ''],
  watch: ['GET', 'collection', '?watch=1'],
  create: ['POST', 'collection', ''],
  update: ['PUT', 'one', ''],
  patch: ['PATCH', 'one', ''],
  delete: ['DELETE', 'one', ''],
  deletecollection: ['DELETE', 'collection', ''],
};

function requestOf(verb: string, collection: string, one: string): RequestInfo {
  const [method, on, query] = METHODS[verb]!;
  return parseRequestInfo(method, `${on === 'one' ? one : collection}${query}`)!;
}

describe('discovery of any set of servers', () => {
  it('is the same bytes and tag from every server, in every form', async () => {
    await fc.assert(
      fc.asyncProperty(controlPlanes, async (servers) => {
        const [first, ...others] = everyStandpoint(servers);
        const { groups } = JSON.parse((await first!.ask('/apis', 'application/json')).text) as LegacyGroups;
        const paths = groups.flatMap((g) => [`/apis/${g.name}`, ...g.versions.map((v) => `/apis/${v.groupVersion}`)]);
        const living = paths.filter((path) => servedByLiving(servers, path));
        for (const [path, accept] of [
          ['/apis', AGGREGATED],
          ['/api', AGGREGATED],
          ['/apis', 'application/vnd.kubernetes.protobuf'],
          ['/apis', 'application/json'],
          ...living.map((each) => [each, 'application/json']),
        ] as [string, string][]) {
          const expected = await first!.ask(path, accept);
          for (const other of others) expect(await other.ask(path, accept)).toEqual(expected);
        }
      }),
      RUNS,
    );
  });

  it('has the same content in legacy and aggregated form', async () => {
    await fc.assert(
      fc.asyncProperty(controlPlanes, async (servers) => {
        const at = everyStandpoint(servers)[0]!;
        const listed = new Map<string, string[]>();
        for (const { group, version, resource } of await advertised(at)) {
          const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
          const names = listed.get(path) ?? listed.set(path, []).get(path)!;
          names.push(`${resource.resource}: ${(resource.verbs ?? []).join()}`);
          for (const sub of resource.subresources ?? []) {
            names.push(`${resource.resource}/${sub.subresource}: ${(sub.verbs ?? []).join()}`);
          }
        }
        for (const [path, names] of listed) {
          if (!servedByLiving(servers, path)) continue;
          const { resources } = JSON.parse((await at.ask(path, 'application/json')).text) as LegacyResources;
          expect(resources.map(({ name, verbs }) => `${name}: ${verbs.join()}`).sort()).toEqual(names.sort());
        }
      }),
      RUNS,
    );
  });

  it('advertises only resources that route to a server that serves them', async () => {
    await fc.assert(
      fc.asyncProperty(controlPlanes, async (servers) => {
        for (const at of everyStandpoint(servers)) {
          const requests = (await advertised(at)).flatMap(requestsFor);
          expect(requests.flatMap((info) => wrongRoute(info, at, servers) ?? [])).toEqual([]);
        }
      }),
      RUNS,
    );
  });
});

interface LegacyGroups {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

interface LegacyResources {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** What only departed servers had is answered 503, which other tests look at. */
function servedByLiving(servers: readonly ServerSurface[], path: string): boolean {
  const [, prefix, ...rest] = path.split('/');
  const [name, version] = prefix === 'api' ? ['', rest[0]] : rest;
  return servers.some(({ departed, surface }) => {
    const groups = prefix === 'api' ? surface.core : surface.groups;
    const group = groups.find(({ metadata }) => (metadata.name ?? '') === name);
    return !departed && group?.versions?.some((v) => version === undefined || v.version === version) === true;
  });
}

/** Returns the problem of a route, if any. */
function wrongRoute(
  info: RequestInfo,
  { self, table }: Standpoint,
  servers: readonly ServerSurface[],
): string | undefined {
  const way = route(info, { surface: self.surface, ready: true }, table);
  const able = servers.filter((server) => serves(server.surface, info));
  const living = able.filter((server) => !server.departed).map(({ identity }) => identity);
  const taken =
    way.kind === 'reroute' ? way.peers.map(({ identity }) => identity) : way.kind === 'local' ? [self.identity] : [];
  // Only a departed server had it: a 404 would be wrong.
  const wanted = living.length === 0 ? [] : living.includes(self.identity) ? [self.identity] : living;
  if (able.length > 0 && taken.join() === wanted.join() && (wanted.length > 0 || way.kind === 'unavailable')) return;
  return `${info.verb} ${info.path} at ${self.identity}: ${way.kind} to ${taken}, not to ${wanted}`;
}

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { makeCa, makeServer } from '../../http/tls/pki.fixture.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import type { JsonObject } from '../../kube/json.js';
import { groupDiscovery } from '../documents/group-discovery.js';
import type { VirtualResource } from '../registry/served-resources.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { ca, makeAggregation, putApiService, putEndpoint, putService } from './aggregation.fixture.js';
import type { ApiServiceCondition } from './api-service.js';
import { localApiServices } from './local-api-services.js';
import { type RemoteServer, startRemoteServer } from './remote-server.fixture.js';

const recorded = JSON.parse(readFileSync(new URL('./apiservices.recorded.json', import.meta.url), 'utf8')) as {
  readonly local: readonly (JsonObject & { readonly metadata: { readonly name: string } })[];
  readonly remotes: readonly { readonly group: string; readonly conditions: readonly ApiServiceCondition[] }[];
  readonly order: readonly (readonly string[])[];
  readonly groups: readonly GroupDiscovery[];
};

/** With all APIs on, by minor version. */
const priorities = JSON.parse(
  readFileSync(new URL('./apiservice-priorities.recorded.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, { readonly services: Readonly<Record<string, readonly [number, number]>> }>>;

const surface = await loadSurface('1.36');

function virtualResource(group: string, version: string): VirtualResource {
  return {
    group,
    version,
    resource: 'things',
    singular: 'thing',
    kind: 'Thing',
    namespaced: true,
    verbs: new Set(['create']),
    shortNames: [],
    categories: [],
    subresources: new Map(),
  };
}

describe('local APIServices', () => {
  it('are those that kube-apiserver creates', () => {
    const groupVersions = recorded.local.map(({ metadata }) => {
      const dot = metadata.name.indexOf('.');
      return {
        group: metadata.name.slice(dot + 1),
        version: metadata.name.slice(0, dot),
        origin: 'built-in' as const,
      };
    });
    const made = localApiServices(groupVersions, 'now');
    const expected = recorded.local.map((each) => ({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      ...JSON.parse(JSON.stringify(each).replace(/"lastTransitionTime":"[^"]*"/, '"lastTransitionTime":"now"')),
    }));
    expect(made).toEqual(expected);
  });

  it.each(Object.entries(priorities))('have the priorities of kube-apiserver %s', async (version, { services }) => {
    const { groups } = await loadSurface(version);
    const groupVersions = groups.flatMap(({ name: group, versions }) =>
      versions.map((each) => ({ group, version: each.version, origin: 'built-in' as const })),
    );
    const made = localApiServices(groupVersions, 'now').map(({ metadata, spec }) => {
      const { groupPriorityMinimum, versionPriority } = spec as JsonObject;
      return [(metadata as JsonObject)['name'], [groupPriorityMinimum, versionPriority]];
    });
    expect(Object.fromEntries(made)).toEqual(services);
  });

  it('lack the group apiregistration.k8s.io, and have a low priority for definitions', () => {
    expect(localApiServices([{ group: 'apiregistration.k8s.io', version: 'v1', origin: 'built-in' }], 'now')).toEqual(
      [],
    );
    const [made] = localApiServices([{ group: 'demo.test', version: 'v1', origin: 'custom' }], 'now');
    expect(made).toMatchObject({
      metadata: { name: 'v1.demo.test', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { groupPriorityMinimum: 1000, versionPriority: 100 },
    });
  });
});

describe('remote APIServices', () => {
  const aggregation = makeAggregation();
  const { objects, apis } = aggregation;
  let remote: RemoteServer;

  beforeAll(async () => {
    remote = await startRemoteServer(makeServer(ca, { dnsNames: ['wardle.default.svc', 'misled.default.svc'] }));
    for (const name of ['wardle', 'misled', 'misnamed']) {
      putService(objects, name, { type: 'ExternalName', externalName: 'localhost' });
    }
    putService(objects, 'plain', { ports: [{ name: 'https', port: 443 }] });
    putEndpoint(objects, 'unready', 443, false);
    const strangers = { caBundle: Buffer.from(makeCa('strangers').pem).toString('base64') };
    const { port } = remote;
    putApiService(objects, 'wardle.example.com', { name: 'wardle', port });
    putApiService(objects, 'not-served.example.com', { name: 'wardle', port });
    putApiService(objects, 'no-service.example.com', { name: 'nobody', port });
    putApiService(objects, 'no-port.example.com', { name: 'plain', port: 444 });
    putApiService(objects, 'no-slices.example.com', { name: 'plain' });
    putApiService(objects, 'not-ready.example.com', { name: 'unready' });
    putApiService(objects, 'closed.example.com', { name: 'wardle', port: 9 });
    putApiService(objects, 'strangers.example.com', { name: 'misled', port }, strangers);
    putApiService(objects, 'misnamed.example.com', { name: 'misnamed', port });
    apis.start();
    await until(() => apis.synced, 'the first checks');
  });
  afterAll(async () => {
    await aggregation.close();
    await remote.close();
  });

  it.each(recorded.remotes.map((each) => [each.group, each.conditions] as const))(
    'get the Available condition recorded from kube-apiserver: %s',
    (group, [expected]) => {
      const update = apis.statusUpdates().find(({ name }) => name === `v1.${group}`);
      const [condition] = update!.conditions;
      const message = condition!.message.replaceAll(`:${remote.port}`, ':$PORT');
      expect({ ...condition, message }).toEqual({ ...expected, lastTransitionTime: '2030-01-01T00:00:00Z' });
      expect(update!.resourceVersion).toBe('7');
    },
  );

  it('are shown in discovery as kube-apiserver shows them', () => {
    const groups = new Map(apis.groupVersions().map(({ group, discovery }) => [group, [discovery]]));
    expect(groups).toEqual(new Map(recorded.groups.map(({ metadata, versions }) => [metadata.name, versions])));
  });

  it('are ordered among the local groups as in kube-apiserver', () => {
    const local = recorded.order.filter(([name]) => !name!.endsWith('.example.com')).reverse();
    const virtual = local.flatMap(([group, ...versions]) =>
      versions.reverse().map((version) => virtualResource(group!, version)),
    );
    const groups = groupDiscovery({ types: [], virtual, aggregated: apis.groupVersions(), order: surface.groups });
    expect(groups.map(({ metadata, versions }) => [metadata.name, ...versions!.map((each) => each.version)])).toEqual(
      recorded.order,
    );
  });
});

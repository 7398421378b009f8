import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { headerValue } from '../../http/headers.js';
import type { GroupDiscoveryList } from '../../kube/discovery.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServedResources } from '../registry/served-resources.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { bodyOf, customType, exchangeFor, servedOf } from './served.fixture.js';
import { DiscoveryDocuments, type DiscoveryOptions, discoveryReply, storageVersionHash } from './served-discovery.js';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const OPTIONS: DiscoveryOptions = {
  serverAddress: '10.0.0.1:6443',
  gitVersion: 'v1.36.0+straddle',
  otherPaths: ['/openapi/v3', '/healthz'],
};
const surface = await loadSurface('1.36');
const CUSTOM = [
  customType({ group: 'stable.example.com', version: 'v1beta1', resource: 'widgets', kind: 'Widget' }),
  customType({
    group: 'stable.example.com',
    version: 'v1',
    resource: 'widgets',
    kind: 'Widget',
    subresources: ['scale', 'status'],
  }),
  customType({ group: 'alpha.example.org', version: 'v1', resource: 'gears', kind: 'Gear', namespaced: false }),
];
const served = servedOf(surface, CUSTOM);
const documents = new DiscoveryDocuments(served, OPTIONS);

async function ask(path: string, accept?: string, of = documents) {
  const reply = await discoveryReply(exchangeFor(path, accept === undefined ? {} : { accept }), of);
  return reply;
}

async function groupNames(of: ServedResources): Promise<string[]> {
  const list = bodyOf(await ask('/apis', V2, new DiscoveryDocuments(of, OPTIONS))) as unknown as GroupDiscoveryList;
  return list.items.map(
    ({ metadata, versions }) => `${metadata.name} ${versions!.map(({ version }) => version).join()}`,
  );
}

describe('aggregated discovery', () => {
  it('has built-in groups in the order of kube-apiserver, then those of custom resources by name', async () => {
    const names = await groupNames(served);
    expect(names.slice(0, 6)).toEqual([
      'apiregistration.k8s.io v1',
      'apps v1',
      'events.k8s.io v1',
      'authentication.k8s.io v1',
      'authorization.k8s.io v1',
      'autoscaling v2,v1',
    ]);
    expect(names.slice(-3)).toEqual([
      'flowcontrol.apiserver.k8s.io v1',
      'alpha.example.org v1',
      'stable.example.com v1,v1beta1',
    ]);
  });

  it('orders groups of APIServices by their priorities', async () => {
    const of = (group: string, version: string, groupPriority: number, versionPriority = 10) => ({
      group,
      discovery: { version, resources: [], freshness: 'Current' as const },
      groupPriority,
      versionPriority,
    });
    const aggregated = [of('low.test', 'v1', 100), of('high.test', 'v1', 2_000), of('high.test', 'v2alpha1', 100, 50)];
    const names = await groupNames({ ...served, aggregated });
    expect(names.slice(-4)).toEqual([
      'high.test v2alpha1,v1',
      'alpha.example.org v1',
      'stable.example.com v1,v1beta1',
      'low.test v1',
    ]);
  });

  it('shows kinds of built-in resources without, of custom ones with group and version, as kube-apiserver does', async () => {
    const { items } = bodyOf(await ask('/apis', V2)) as unknown as GroupDiscoveryList;
    const find = (group: string, name: string) =>
      items
        .find(({ metadata }) => metadata.name === group)!
        .versions![0]!.resources!.find(({ resource }) => resource === name);
    expect(find('apps', 'deployments')).toEqual({
      resource: 'deployments',
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          subresource: 'status',
          responseKind: { group: '', version: '', kind: 'Deployment' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
    expect(find('stable.example.com', 'widgets')).toMatchObject({
      responseKind: { group: 'stable.example.com', version: 'v1', kind: 'Widget' },
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      subresources: [{ subresource: 'status' }, { subresource: 'scale' }],
    });
  });

  it('has only the core group at /api, in both versions of the document', async () => {
    const list = bodyOf(await ask('/api', V2.replace('v=v2', 'v=v2beta1')));
    expect(list).toMatchObject({ apiVersion: 'apidiscovery.k8s.io/v2beta1', items: [{ metadata: {} }] });
  });

  it('has an ETag of its content, and replies 304 to a client that has it', async () => {
    const first = await ask('/apis', V2);
    const etag = headerValue(first!.headers, 'etag')!;
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(headerValue(first!.headers, 'cache-control')).toBe('public');
    const same = new DiscoveryDocuments(servedOf(surface, CUSTOM), OPTIONS);
    const again = await discoveryReply(exchangeFor('/apis', { accept: V2, 'if-none-match': etag }), same);
    expect(again).toMatchObject({ status: 304, body: null });
    const changed = new DiscoveryDocuments(servedOf(surface, CUSTOM.slice(1)), OPTIONS);
    const now = await discoveryReply(exchangeFor('/apis', { accept: V2, 'if-none-match': etag }), changed);
    expect(now!.status).toBe(200);
  });
});

describe('legacy discovery', () => {
  it('has the versions, groups and preferred versions', async () => {
    expect(bodyOf(await ask('/api'))).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    });
    const group = {
      name: 'stable.example.com',
      versions: [
        { groupVersion: 'stable.example.com/v1', version: 'v1' },
        { groupVersion: 'stable.example.com/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'stable.example.com/v1', version: 'v1' },
    };
    expect(bodyOf(await ask('/apis'))['groups']).toContainEqual(group);
    expect(bodyOf(await ask('/apis/stable.example.com'))).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group });
  });

  it('lists resources and subresources, with storageVersionHash', async () => {
    const list = bodyOf(await ask('/apis/stable.example.com/v1'));
    expect(list).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'stable.example.com/v1' });
    expect(list['resources']).toEqual([
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['xw'],
        categories: ['all', 'ex'],
        // What a kube-apiserver says of the same definition.
        storageVersionHash: '2vCiI1Gcs2s=',
      },
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    ]);
    expect(storageVersionHash('v1', 'ConfigMap')).toBe('qFsyl6wFWjQ=');
  });

  it('omits storageVersionHash of unstored resources, and apiVersion of the core list', async () => {
    const core = bodyOf(await ask('/api/v1'));
    expect(core).not.toHaveProperty('apiVersion');
    expect((core['resources'] as object[])[0]).toEqual({
      name: 'bindings',
      singularName: 'binding',
      namespaced: true,
      kind: 'Binding',
      verbs: ['create'],
    });
  });

  it('returns undefined for groups, versions and paths that are not served', async () => {
    for (const path of [
      '/apis/nope',
      '/apis/apps/v9',
      '/api/v2',
      '/apis/apps/v1/deployments',
      '/healthz',
      '/api/v1/x',
    ]) {
      expect(await ask(path), path).toBeUndefined();
    }
    const foreign = {
      ...served,
      aggregated: [{ group: 'm.test', discovery: { version: 'v1' }, groupPriority: 1, versionPriority: 1 }],
    };
    const withForeign = new DiscoveryDocuments(foreign, OPTIONS);
    expect(bodyOf(await ask('/apis/m.test', undefined, withForeign))).toMatchObject({ name: 'm.test' });
    expect(await ask('/apis/m.test/v1', undefined, withForeign)).toBeUndefined();
  });
});

describe('negotiation of discovery documents', () => {
  it.each<[string, string, string]>([
    ['application/vnd.kubernetes.protobuf,application/json', '/apis', 'application/json'],
    [`application/vnd.kubernetes.protobuf;as=x,${V2},application/json`, '/apis', V2],
    [`${V2};profile=nopeer,${V2},application/json`, '/apis', V2],
    [`application/json;q=0.5,${V2};q=0.9`, '/api', V2],
    ['*/*', '/api', 'application/json'],
    ['application/vnd.kubernetes.protobuf, */*', '/api/v1', 'application/json'],
    ['text/html', '/', 'application/json'],
  ])('gives a client with Accept %s at %s the type %s', async (accept, path, contentType) => {
    expect(headerValue((await ask(path, accept))!.headers, 'content-type')).toBe(contentType);
  });

  it.each(['/apis', '/api/v1', '/version'])('replies 406 for %s in protobuf only', async (path) => {
    const refusal = ask(path, 'application/vnd.kubernetes.protobuf');
    await expect(refusal).rejects.toBeInstanceOf(StatusError);
    await expect(refusal).rejects.toMatchObject({ status: { code: 406, reason: 'NotAcceptable' } });
  });

  it('replies 405 to POST, and to HEAD without a body', async () => {
    await expect(discoveryReply(exchangeFor('/apis', {}, 'POST'), documents)).rejects.toMatchObject({
      status: { code: 405 },
    });
    const head = await discoveryReply(exchangeFor('/api', {}, 'HEAD'), documents);
    expect(head).toMatchObject({ status: 200, body: null });
  });

  it('compresses documents from 128 KiB on, for clients that accept gzip', async () => {
    const many = Array.from({ length: 500 }, (_, i) =>
      customType({ group: `g${i}.example.com`, version: 'v1', resource: 'widgets', kind: 'Widget' }),
    );
    const large = new DiscoveryDocuments(servedOf(surface, many), OPTIONS);
    const headers = { accept: V2, 'accept-encoding': 'br, gzip' };
    const reply = (await discoveryReply(exchangeFor('/apis', headers), large))!;
    expect(headerValue(reply.headers, 'content-encoding')).toBe('gzip');
    expect(gunzipSync(reply.body as Buffer)).toEqual((await ask('/apis', V2, large))!.body);
    const small = (await discoveryReply(exchangeFor('/version', { 'accept-encoding': 'gzip' }), documents))!;
    expect(headerValue(small.headers, 'content-encoding')).toBeUndefined();
  });
});

describe('the documents /version and /', () => {
  it('have the version with all fields as strings', async () => {
    expect(bodyOf(await ask('/version'))).toMatchObject({
      major: '1',
      minor: '36',
      emulationMajor: '1',
      emulationMinor: '36',
      minCompatibilityMinor: '35',
      gitVersion: 'v1.36.0+straddle',
    });
  });

  it('have the sorted list of paths', async () => {
    const paths = bodyOf(await ask('/'))['paths'] as string[];
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/stable.example.com/v1', '/healthz', '/version']),
    );
  });
});

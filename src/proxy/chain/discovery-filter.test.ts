import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { Surface } from '../../kube/surface.js';
import { DocumentFetcher } from '../discovery/document-fetch.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { LegacyDiscovery } from '../discovery/legacy-discovery.js';
import { permission } from '../discovery/permission.js';
import { StorageHashReader } from '../discovery/storage-hashes.js';
import { group, resource, surfaceOf, version } from '../discovery/surface.fixture.js';
import { tableOf } from '../discovery/table.fixture.js';
import { ViewCache } from '../discovery/view-cache.js';
import type { PeerTable } from '../peers/peer-table.js';
import { discoveryFilter } from './discovery-filter.js';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2BETA1 = V2.replace('v=v2', 'v=v2beta1');
const core = [group('', version('v1', resource('pods')))];
const ours = surfaceOf([group('apps', version('v1', resource('deployments')))], core, 'v1.35.8');
const theirs = surfaceOf([group('batch', version('v1', resource('jobs', { shortNames: ['jo'] })))], core, 'v1.36.4');

const API_VERSIONS = {
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
};

function setup(
  options: { local?: Surface | undefined; table?: PeerTable; active?: boolean; host?: (e: Exchange) => Reply } = {},
) {
  const local = 'local' in options ? options.local : ours;
  const table = options.table ?? tableOf({ b: theirs });
  const clock = new ManualClock();
  const reached: Exchange[] = [];
  const sent: string[] = [];
  const counts = { nopeer: 0 };
  const host = options.host ?? hostAnswer;
  const fetcher = new DocumentFetcher({
    send: async (server, target) => {
      sent.push(`${server} ${target}`);
      const resources = [{ name: 'jobs', storageVersionHash: 'hash-of-jobs' }];
      return json({ kind: 'APIResourceList', groupVersion: 'batch/v1', resources });
    },
    clock,
    logger: silentLogger,
    onFault: () => {},
  });
  const filter = discoveryFilter({
    active: () => options.active ?? true,
    views: new ViewCache(
      { self: 'a', local: () => local, peers: () => table },
      { cacheHit: () => {}, cacheMiss: () => {} },
    ),
    legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
    authorize: permission(clock),
    clock,
    hooks: { nopeer: () => counts.nopeer++ },
  });
  const handle = filter.wrap(async (exchange) => {
    reached.push(exchange);
    return host(exchange);
  });
  return { handle, reached, sent, counts };
}

function hostAnswer(exchange: Exchange): Reply {
  if (exchange.info.path === '/api' && headerValue(exchange.headers, 'accept') === 'application/json') {
    return json(API_VERSIONS);
  }
  return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from('from the host') };
}

function json(value: unknown): Reply {
  return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(value)) };
}

const accepting = (target: string, accept: string, ...more: string[]) =>
  exchangeFor(target, { headers: ['Accept', accept, ...more] });
const text = (reply: Reply) => Buffer.from((reply.body ?? Buffer.alloc(0)) as Uint8Array).toString();
const parsed = (reply: Reply) => JSON.parse(text(reply));
const groupNames = (reply: Reply) => parsed(reply).items.map((g: { metadata: { name: string } }) => g.metadata.name);

describe('discovery filter, aggregated form', () => {
  it('serves merged /apis and /api, in v2 and v2beta1', async () => {
    const { handle } = setup();
    const reply = await handle(accepting('/apis?timeout=32s', `${V2},${V2BETA1},application/json`));
    expect(groupNames(reply)).toEqual(['apps', 'batch']);
    expect(headerValue(reply.headers, 'content-type')).toBe(V2);
    expect(headerValue(reply.headers, 'cache-control')).toBe('public');
    const older = await handle(accepting('/apis/', V2BETA1));
    expect(headerValue(older.headers, 'content-type')).toBe(V2BETA1);
    expect(parsed(older).apiVersion).toBe('apidiscovery.k8s.io/v2beta1');
    expect(parsed(await handle(accepting('/api', V2))).items[0].versions[0].resources[0].resource).toBe('pods');
  });

  it('replies with 304 to a matching ETag and with gzip where accepted', async () => {
    const { handle } = setup();
    const plain = await handle(accepting('/apis', V2));
    const etag = headerValue(plain.headers, 'etag')!;
    expect((await handle(accepting('/apis', V2, 'If-None-Match', etag))).status).toBe(304);
    const big = setup({ local: surfaceOf(Array.from({ length: 100 }, (_, i) => group(`g${i}`, version('v1')))) });
    const zipped = await big.handle(accepting('/apis', V2, 'Accept-Encoding', 'gzip'));
    expect(JSON.parse(gunzipSync(zipped.body as Buffer).toString()).items).toHaveLength(101);
  });

  it('passes profile nopeer to the host and prevents a reroute', async () => {
    const { handle, reached, counts } = setup();
    expect(text(await handle(accepting('/apis', `${V2};profile=nopeer`)))).toBe('from the host');
    expect(reached[0]!.localOnly).toBe(true);
    expect(counts.nopeer).toBe(1);
    expect(groupNames(await handle(accepting('/apis', `${V2};profile=unheard-of`)))).toEqual(['apps', 'batch']);
  });

  it('passes requests to the host that it cannot serve or need not merge', async () => {
    const proxied = accepting('/apis', V2);
    proxied.peerProxied = true;
    const cases: [ReturnType<typeof setup>, Exchange][] = [
      [setup({ table: tableOf({}) }), accepting('/apis', V2)],
      [setup({ active: false }), accepting('/apis', V2)],
      [setup(), proxied],
      [setup(), accepting('/apis', V2.replace('json', 'cbor'))],
      [setup(), accepting('/apis', 'text/html')],
      [setup(), exchangeFor('/apis', { method: 'POST' })],
      [setup(), exchangeFor('/apis/apps/v1/deployments')],
      [setup(), exchangeFor('/version')],
    ];
    for (const [{ handle, reached }, exchange] of cases) {
      expect(text(await handle(exchange))).toBe('from the host');
      expect(reached).toEqual([exchange]);
    }
  });

  describe('Accept parameters that are not known', () => {
    const V9 = V2.replace('v=v2', 'v=v9');

    it.each([
      V9,
      `${V9};profile=nopeer`,
      `${V2};sv=v1`,
      'application/json;as=APIGroupDiscoveryList',
      'Application/JSON ; AS="Table" ;v=v1;g=meta.k8s.io',
      'application/json;stream=other;q=0.7',
      `application/cbor${V2.slice(V2.indexOf(';'))};profile=unknown;foo=bar`,
      'application/cbor;foo=bar',
    ])('reach the server unchanged if only it can answer them: %s', async (accept) => {
      for (const path of ['/apis', '/api', '/apis/apps', '/api/v1']) {
        const { handle, reached } = setup();
        const asked = accepting(path, accept);
        expect(text(await handle(asked))).toBe('from the host');
        expect(reached).toEqual([asked]);
        expect(reached[0]!.headers).toEqual(['Accept', accept]);
      }
    });

    it.each([`${V2};profile=unknown`, `${V2};foo=bar`, `${V9},${V2};foo=bar`, `${V2};stream=watch`])(
      'do not prevent the merged form beside them: %s',
      async (accept) => {
        const { handle } = setup();
        const reply = await handle(accepting('/apis', accept));
        expect(groupNames(reply)).toEqual(['apps', 'batch']);
        expect(headerValue(reply.headers, 'content-type')).toBe(V2);
      },
    );

    it.each(['application/json;foo=bar', 'application/json;profile=unknown', `${V9},application/json`])(
      'do not prevent the merged legacy form beside them: %s',
      async (accept) => {
        const { handle } = setup();
        expect(parsed(await handle(accepting('/apis', accept))).kind).toBe('APIGroupList');
      },
    );
  });

  it('prefers merged JSON to CBOR of one server, where the client takes both', async () => {
    const { handle } = setup();
    const reply = await handle(accepting('/apis', `${V2.replace('json', 'cbor')},${V2};q=0.5`));
    expect(groupNames(reply)).toEqual(['apps', 'batch']);
  });

  it('serves aggregated discovery as protobuf', async () => {
    const { handle } = setup();
    const reply = await handle(accepting('/apis', V2.replace('json', 'vnd.kubernetes.protobuf')));
    expect(headerValue(reply.headers, 'content-type')).toBe(V2.replace('json', 'vnd.kubernetes.protobuf'));
    expect(text(reply)).toMatch(/^k8s\0/);
  });

  it('returns the 403 of the API server unchanged', async () => {
    const { handle } = setup({ host: () => ({ status: 403, headers: ['x', 'y'], body: Buffer.from('forbidden') }) });
    for (const path of ['/apis', '/api', '/apis/batch', '/apis/batch/v1', '/apis/apidiscovery.k8s.io/v2']) {
      for (const accept of [V2, 'application/json']) {
        const reply = await handle(exchangeFor(path, { headers: ['Accept', accept], identity: user('eve') }));
        if (path === '/apis/batch' && accept === V2) continue;
        expect([path, accept, reply.status, text(reply)]).toEqual([path, accept, 403, 'forbidden']);
      }
    }
  });

  it('replies with 503 while the local surface is unknown', async () => {
    const { handle } = setup({ local: undefined });
    await expect(handle(accepting('/apis', V2))).rejects.toMatchObject({ status: { code: 503 } });
  });

  it('serves the merged document and the nopeer profile at /apis/apidiscovery.k8s.io/v2 for any Accept', async () => {
    const { handle, reached } = setup();
    expect(groupNames(await handle(accepting('/apis/apidiscovery.k8s.io/v2', 'application/json, */*')))).toEqual([
      'apps',
      'batch',
    ]);
    reached.length = 0;
    expect(text(await handle(exchangeFor('/apis/apidiscovery.k8s.io/v2?profile=nopeer')))).toBe('from the host');
    expect(reached[0]).toMatchObject({ target: '/apis', localOnly: true });
    expect(headerValue(reached[0]!.headers, 'accept')).toContain('profile=nopeer');
    const alone = setup({ table: tableOf({}) });
    expect(groupNames(await alone.handle(exchangeFor('/apis/apidiscovery.k8s.io/v2')))).toEqual(['apps']);
  });
});

describe('discovery filter, legacy form', () => {
  it('lists the groups of all servers at /apis', async () => {
    const reply = await setup().handle(exchangeFor('/apis'));
    expect(parsed(reply)).toEqual({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: ['apps', 'batch'].map((name) => ({
        name,
        versions: [{ groupVersion: `${name}/v1`, version: 'v1' }],
        preferredVersion: { groupVersion: `${name}/v1`, version: 'v1' },
      })),
    });
    expect(headerValue(reply.headers, 'cache-control')).toBe('no-cache, private');
  });

  it('serves a group and a version of a peer only, with its storage version hash', async () => {
    const { handle, sent } = setup();
    expect(parsed(await handle(exchangeFor('/apis/batch')))).toMatchObject({ kind: 'APIGroup', name: 'batch' });
    for (let i = 0; i < 2; i++) {
      expect(parsed(await handle(exchangeFor('/apis/batch/v1')))).toEqual({
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: 'batch/v1',
        resources: [
          {
            name: 'jobs',
            singularName: 'job',
            namespaced: true,
            kind: 'Job',
            verbs: ['get', 'list'],
            shortNames: ['jo'],
            storageVersionHash: 'hash-of-jobs',
          },
        ],
      });
    }
    expect(sent).toEqual(['b /apis/batch/v1']);
  });

  it('completes /api and keeps the address of the local server', async () => {
    const table = tableOf({ b: surfaceOf([], [group('', version('v1'), version('v2'))]) });
    expect(parsed(await setup({ table }).handle(exchangeFor('/api')))).toEqual({
      ...API_VERSIONS,
      versions: ['v1', 'v2'],
    });
  });

  it('serves legacy discovery as protobuf', async () => {
    const { handle } = setup();
    const accept = 'application/vnd.kubernetes.protobuf,application/json';
    for (const path of ['/api', '/apis', '/apis/batch', '/apis/batch/v1', '/api/v1']) {
      const reply = await handle(accepting(path, accept));
      expect(headerValue(reply.headers, 'content-type')).toBe('application/vnd.kubernetes.protobuf');
      expect(text(reply)).toMatch(/^k8s\0/);
    }
  });

  it('warns of versions that only a departed server served, also a client that has the document', async () => {
    const { handle } = setup({ table: tableOf({}, { b: theirs }) });
    const warning =
      '299 - "batch/v1 is held: no server serves it since b went away, and requests for it are answered 503"';
    const reply = await handle(exchangeFor('/apis', { headers: ['Accept', V2] }));
    expect(headerValue(reply.headers, 'warning')).toBe(warning);
    const known = ['Accept', V2, 'If-None-Match', headerValue(reply.headers, 'etag')!];
    const unchanged = await handle(exchangeFor('/apis', { headers: known }));
    expect([unchanged.status, headerValue(unchanged.headers, 'warning')]).toEqual([304, warning]);
    const others = [
      await handle(exchangeFor('/api', { headers: ['Accept', V2] })),
      await setup().handle(exchangeFor('/apis', { headers: ['Accept', V2] })),
    ];
    for (const { status, headers } of others) {
      expect([status, headerValue(headers, 'warning')]).toEqual([200, undefined]);
    }
  });

  it('passes a path that no server has to the host', async () => {
    const { handle } = setup();
    expect(text(await handle(exchangeFor('/apis/nobody')))).toBe('from the host');
    expect(text(await handle(exchangeFor('/apis/nobody/v1')))).toBe('from the host');
    expect(text(await handle(exchangeFor('/apis/batch/v7')))).toBe('from the host');
  });

  it('replies with 503, not 404, if only a departed server had the path or an unread one may have it', async () => {
    const departed = setup({ table: tableOf({}, { b: theirs }) });
    for (const path of ['/apis/batch', '/apis/batch/v1']) {
      await expect(departed.handle(exchangeFor(path))).rejects.toMatchObject({ status: { code: 503 } });
    }
    expect(parsed(await departed.handle(exchangeFor('/apis'))).groups).toHaveLength(2);
    const unread = setup({ table: tableOf({ b: undefined }) });
    await expect(unread.handle(exchangeFor('/apis/batch/v1'))).rejects.toMatchObject({ status: { code: 503 } });
  });
});

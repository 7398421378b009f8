import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { Surface } from '../../kube/surface.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { permission } from '../discovery/permission.js';
import type { PeerTable } from '../peers/peer-table.js';
import { endpoint, peer, surfaceOf, tableOf } from '../routing/routing.fixture.js';
import { chooseVersion, type VersionView, versionFilter } from './version-filter.js';

const documentOf = (version: string) => `{\n  "gitVersion": "${version}"\n}`;
const of = (version: string): Surface => ({ ...surfaceOf({}, version), versionDocument: documentOf(version) });
const V35 = of('v1.35.8');
const V36 = of('v1.36.4');
const V37 = of('v1.37.1');

function setup(options: { view?: VersionView; local?: Surface; table?: PeerTable; status?: number; active?: boolean }) {
  const { view = 'oldest', local = V37, table = tableOf([peer('b', V36)]), status = 200 } = options;
  const reached: Exchange[] = [];
  const body = Buffer.from('"of the local server"');
  const next = async (exchange: Exchange): Promise<Reply> => {
    reached.push(exchange);
    return { status, headers: ['Content-Type', 'application/json'], body };
  };
  const handler = versionFilter({
    view,
    active: () => options.active ?? true,
    local: () => local,
    peers: () => table,
    authorize: permission(new ManualClock()),
  }).wrap(next);
  const get = async (target = '/version', more: Parameters<typeof exchangeFor>[1] = {}, flags: object = {}) => {
    const reply = await handler(Object.assign(exchangeFor(target, { identity: user('alice'), ...more }), flags));
    return { ...reply, text: reply.body instanceof Uint8Array ? Buffer.from(reply.body).toString() : '' };
  };
  return { get, reached };
}

describe('versionFilter', () => {
  it.each([
    ['oldest', V36],
    ['newest', V37],
  ] as const)('replies with the document of the %s server, as that server wrote it', async (view, expected) => {
    const local = view === 'oldest' ? V37 : V36;
    const other = view === 'oldest' ? V36 : V37;
    const { get } = setup({ view, local, table: tableOf([peer('b', other)]) });
    const reply = await get();
    expect([reply.status, reply.text]).toEqual([200, expected.versionDocument]);
    expect(headerValue(reply.headers, 'content-type')).toBe('application/json');
    expect(headerValue(reply.headers, 'cache-control')).toBe('no-cache, private');
    expect((await get('/version/')).text).toBe(expected.versionDocument);
    expect(await get('/version', { method: 'HEAD' })).toMatchObject({ status: 200, body: null });
  });

  it('replies with the refusal of the local server to a caller that may not read /version', async () => {
    const { get, reached } = setup({ status: 403 });
    expect((await get()).status).toBe(403);
    expect(reached.map(({ target, identity }) => [target, identity])).toEqual([['/version', user('alice')]]);
  });

  it('asks the local server once for several requests of one caller', async () => {
    const { get, reached } = setup({});
    for (let count = 0; count < 3; count++) expect((await get()).text).toBe(V36.versionDocument);
    expect(reached).toHaveLength(1);
  });

  it.each([
    ['the view is local', { view: 'local' as const }, {}, {}],
    ['peering is off', { active: false }, {}, {}],
    ['the local server is the oldest', { local: V35 }, {}, {}],
    ['a peer has the same document', { local: of('v1.36.4') }, {}, {}],
    ['a peer rerouted the request', {}, {}, { peerProxied: true }],
    ['the local view is requested', {}, {}, { localOnly: true }],
    ['the request is for one server', {}, { headers: ['X-Kubernetes-Peer-Proxied', 'true'] }, {}],
    ['the method is POST', {}, { method: 'POST' }, {}],
  ])('passes the request on if %s', async (_, options, more, flags) => {
    const { get, reached } = setup(options);
    expect((await get('/version', more, flags)).text).toBe('"of the local server"');
    expect(reached).toHaveLength(1);
  });

  it.each(['local', 'oldest'] as const)(
    'has only the local server reply about itself with the view %s',
    async (view) => {
      const { get, reached } = setup({ view });
      const forOne = { headers: ['X-Kubernetes-Peer-Proxied', 'true'] };
      for (const path of ['/version', '/statusz', '/flagz']) await get(path, forOne);
      await get('/api/v1/pods', forOne);
      await get('/statusz');
      expect(reached.map(({ info, localOnly }) => [info.path, localOnly])).toEqual([
        ['/version', true],
        ['/statusz', true],
        ['/flagz', true],
        ['/api/v1/pods', false],
        ['/statusz', false],
      ]);
    },
  );

  it('passes requests for other paths on', async () => {
    const { get } = setup({});
    for (const path of ['/version/x', '/versions', '/api/v1/pods'])
      expect((await get(path)).text).toBe('"of the local server"');
  });
});

describe('chooseVersion', () => {
  const servers = [V36, V35, V37];
  const others = (self: Surface) =>
    tableOf(servers.filter((each) => each !== self).map((each, i) => peer(`p${i}`, each)));

  it.each(servers.map((self) => [self.kubernetesVersion, self] as const))(
    'chooses the same on a server %s',
    (_, self) => {
      expect(chooseVersion('oldest', self, others(self))).toBe(V35);
      expect(chooseVersion('newest', self, others(self))).toBe(V37);
    },
  );

  it('chooses by the text between versions that differ in their suffix only', () => {
    const k1 = of('v1.36.4+k3s1');
    const k2 = of('v1.36.4+k3s2');
    for (const [local, other] of [
      [k1, k2],
      [k2, k1],
    ] as const) {
      expect(chooseVersion('oldest', local, tableOf([peer('b', other)]))).toBe(k1);
      expect(chooseVersion('newest', local, tableOf([peer('b', other)]))).toBe(k2);
    }
  });

  it('leaves out servers that are down, are not read yet, or have no known version', () => {
    const down = peer('b', V35, endpoint('b:1', { usable: false }));
    const withoutDocument = peer('c', { ...of('v1.34.0'), versionDocument: undefined });
    const table = tableOf([down, withoutDocument, peer('d', of('')), peer('e', undefined)]);
    expect(chooseVersion('oldest', V37, table)).toBe(V37);
    expect(chooseVersion('oldest', undefined, tableOf([down, peer('c', V36)]))).toBe(V36);
    expect(chooseVersion('oldest', undefined, tableOf([down]))).toBeUndefined();
  });
});

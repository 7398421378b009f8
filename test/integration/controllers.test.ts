import { afterEach, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../src/compose/start-server.js';
import { type Certificates, makeCertificates } from './certificates.js';
import { eventually, type LogLine } from './control-plane.js';
import { type Flags, startEmbedded, temporaryDirectory } from './embedded-server.js';
import { type Answer, type Ask, ask } from './https-client.js';

interface KubeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: { readonly conditions?: { readonly type: string; readonly status: string }[] };
  readonly items?: KubeObject[];
}

const NEWER = { 'server-name': 'b', 'kubernetes-version': '1.36', 'runtime-config': 'scheduling.k8s.io/v1alpha2=true' };
const OLDER = { 'server-name': 'a', 'kubernetes-version': '1.35', controllers: 'namespace,garbagecollector' };
const OFF = { 'feature-gates': 'UnknownVersionInteroperabilityProxy=false', 'peer-ca-file': '' };
const WITHIN_MS = 30_000;

/** 1.35, which runs the controllers, and 1.36, which alone knows PodGroups, on one store. */
class Plane {
  readonly certificates: Certificates = makeCertificates();
  readonly log: LogLine[] = [];
  readonly #admin = this.certificates.user('admin', 'system:masters');
  readonly #store = temporaryDirectory();
  readonly #flags: Flags;
  older!: RunningServer;
  newer!: RunningServer;

  constructor(flags: Flags = {}) {
    this.#flags = flags;
  }

  async start(): Promise<this> {
    this.older = await startEmbedded(this.certificates, this.#store.path, { ...OLDER, ...this.#flags }, this.log);
    await this.startNewer();
    return this;
  }

  async startNewer(): Promise<void> {
    this.newer = await startEmbedded(this.certificates, this.#store.path, { ...NEWER, ...this.#flags });
  }

  ask({ port }: RunningServer, path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port, ca: this.certificates.ca.pem }, path, { as: this.#admin, ...options });
  }

  async make(server: RunningServer, path: string, body: unknown): Promise<KubeObject> {
    const answer = await this.ask(server, path, { method: 'POST', body });
    expect(answer.status, answer.text).toBe(201);
    return answer.json<KubeObject>();
  }

  namespace(name: string): Promise<KubeObject> {
    return this.make(this.older, '/api/v1/namespaces', { metadata: { name } });
  }

  async podGroup(namespace: string, name: string): Promise<KubeObject> {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    const made = await this.make(this.newer, podGroups(namespace), { metadata: { name }, spec });
    // Takes off what a scheduler's controller would.
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const body = { metadata: { finalizers: null } };
    await this.ask(this.newer, `${podGroups(namespace)}/${name}`, { method: 'PATCH', headers, body });
    return made;
  }

  owned(namespace: string, name: string, owner: { kind: string; apiVersion: string; name: string; uid: string }) {
    const metadata = { name, ownerReferences: [owner] };
    return this.make(this.older, configMaps(namespace), { metadata });
  }

  async has(server: RunningServer, path: string): Promise<boolean> {
    const { status, text } = await this.ask(server, path);
    expect([200, 404], text).toContain(status);
    return status === 200;
  }

  /** An object that is certainly garbage: once it is gone, whatever else there was to collect has had its turn. */
  async untilCollected(namespace: string, name: string): Promise<void> {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: MISSING_UID };
    await this.owned(namespace, name, owner);
    await this.untilGone(`${configMaps(namespace)}/${name}`);
  }

  async untilGone(path: string): Promise<void> {
    const isGone = ({ status }: Answer) => status === 404;
    await eventually(`${path} is gone`, () => this.ask(this.older, path), isGone, WITHIN_MS);
  }

  async close(): Promise<void> {
    await Promise.all([this.older?.close(), this.newer?.close()]);
    this.#store.remove();
    this.certificates.remove();
  }
}

const MISSING_UID = '00000000-0000-4000-8000-000000000000';
const podGroups = (namespace: string) => `/apis/scheduling.k8s.io/v1alpha2/namespaces/${namespace}/podgroups`;
const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const podGroupRef = ({ metadata: { name, uid } }: KubeObject) => ({
  apiVersion: 'scheduling.k8s.io/v1alpha2',
  kind: 'PodGroup',
  name,
  uid,
});

let plane: Plane;
afterEach(async () => {
  await plane?.close();
}, 30_000);

async function startJoined(): Promise<void> {
  plane = await new Plane().start();
  const isThere = ({ status }: Answer) => status === 200;
  await eventually('the peer', () => plane.ask(plane.older, podGroups('default')), isThere, WITHIN_MS);
}

describe('controllers of an older server', () => {
  it('find owners of newer kinds through the proxy, and empty namespaces of newer kinds', async () => {
    await startJoined();
    await plane.namespace('shop');
    const group = await plane.podGroup('shop', 'g');
    await plane.owned('shop', 'kept', podGroupRef(group));
    await plane.owned('shop', 'garbage', { ...podGroupRef(group), uid: MISSING_UID });
    await plane.untilGone(`${configMaps('shop')}/garbage`);
    await plane.untilCollected('shop', 'sentinel');
    expect(await plane.has(plane.older, `${configMaps('shop')}/kept`)).toBe(true);

    await plane.ask(plane.older, '/api/v1/namespaces/shop', { method: 'DELETE' });
    await plane.untilGone('/api/v1/namespaces/shop');
    const left = await plane.ask(plane.newer, podGroups('shop'));
    expect(left.json<KubeObject>().items).toEqual([]);
  }, 60_000);

  it('keep the merged view while passthrough shows clients the local server alone', async () => {
    await startJoined();
    await plane.namespace('shop');
    await plane.namespace('closing');
    await plane.podGroup('closing', 'left');
    const group = await plane.podGroup('shop', 'g');
    for (const server of [plane.older, plane.newer]) {
      const { status, text } = await plane.ask(server, '/straddle/passthrough', { method: 'POST', body: { on: true } });
      expect(status, text).toBe(200);
    }
    expect((await plane.ask(plane.older, podGroups('shop'))).status).toBe(404);
    await plane.owned('shop', 'kept', podGroupRef(group));
    await plane.owned('shop', 'garbage', { ...podGroupRef(group), uid: MISSING_UID });
    await plane.ask(plane.older, '/api/v1/namespaces/closing', { method: 'DELETE' });
    await plane.untilGone(`${configMaps('shop')}/garbage`);
    await plane.untilGone('/api/v1/namespaces/closing');
    await plane.untilCollected('shop', 'sentinel');
    expect(await plane.has(plane.older, `${configMaps('shop')}/kept`)).toBe(true);
    expect((await plane.ask(plane.newer, podGroups('closing'))).json<KubeObject>().items).toEqual([]);
    await plane.ask(plane.older, '/straddle/passthrough', { method: 'POST', body: { on: false } });
    expect((await plane.ask(plane.older, podGroups('shop'))).status).toBe(200);
  }, 60_000);

  it('delete dependents with an owner of a newer kind, foreground and orphan', async () => {
    await startJoined();
    await plane.namespace('shop');
    const [first, second] = [await plane.podGroup('shop', 'first'), await plane.podGroup('shop', 'second')];
    await plane.owned('shop', 'of-first', { ...podGroupRef(first), ...{ blockOwnerDeletion: true } });
    await plane.owned('shop', 'of-second', podGroupRef(second));
    const remove = (name: string, policy: string) =>
      plane.ask(plane.older, `${podGroups('shop')}/${name}?propagationPolicy=${policy}`, { method: 'DELETE' });
    await remove('first', 'Foreground');
    await remove('second', 'Orphan');
    await plane.untilGone(`${podGroups('shop')}/first`);
    await plane.untilGone(`${podGroups('shop')}/second`);
    expect(await plane.has(plane.older, `${configMaps('shop')}/of-first`)).toBe(false);
    await plane.untilCollected('shop', 'sentinel');
    expect(await plane.has(plane.older, `${configMaps('shop')}/of-second`)).toBe(true);
  }, 60_000);

  it('wait while the only server of a kind is down, and continue when it is back', async () => {
    await startJoined();
    await plane.namespace('shop');
    await plane.namespace('closing');
    const group = await plane.podGroup('shop', 'g');
    await plane.podGroup('closing', 'left');
    await plane.owned('shop', 'kept', podGroupRef(group));
    await plane.newer.close();
    await plane.owned('shop', 'garbage', { ...podGroupRef(group), uid: MISSING_UID });
    await plane.ask(plane.older, '/api/v1/namespaces/closing', { method: 'DELETE' });
    await eventually(
      'the namespace says why it waits',
      async () => (await plane.ask(plane.older, '/api/v1/namespaces/closing')).json<KubeObject>(),
      ({ status }) =>
        status?.conditions?.some((each) => each.type.endsWith('DiscoveryFailure') && each.status === 'True') ?? false,
      WITHIN_MS,
    );
    await plane.untilCollected('shop', 'sentinel');
    for (const name of ['kept', 'garbage'])
      expect(await plane.has(plane.older, `${configMaps('shop')}/${name}`)).toBe(true);
    expect(await plane.has(plane.older, '/api/v1/namespaces/closing')).toBe(true);

    await plane.startNewer();
    await plane.untilGone(`${configMaps('shop')}/garbage`);
    await plane.untilGone('/api/v1/namespaces/closing');
    expect(await plane.has(plane.older, `${configMaps('shop')}/kept`)).toBe(true);
    expect((await plane.ask(plane.newer, podGroups('closing'))).json<KubeObject>().items).toEqual([]);
  }, 90_000);

  it('without the proxy: still delete no object on a wrong 404, but end a namespace too early', async () => {
    plane = await new Plane(OFF).start();
    await plane.namespace('shop');
    const group = await plane.podGroup('shop', 'g');
    expect((await plane.ask(plane.older, `${podGroups('shop')}/g`)).status).toBe(404);
    await plane.owned('shop', 'kept', podGroupRef(group));
    await plane.untilCollected('shop', 'sentinel');
    expect(await plane.has(plane.older, `${configMaps('shop')}/kept`)).toBe(true);

    // This server cannot find out that the namespace has objects of other kinds.
    await plane.ask(plane.older, '/api/v1/namespaces/shop', { method: 'DELETE' });
    await plane.untilGone('/api/v1/namespaces/shop');
    expect(await plane.has(plane.newer, `${podGroups('shop')}/g`)).toBe(true);
    await plane.namespace('shop');
    const names = (await plane.ask(plane.newer, podGroups('shop'))).json<KubeObject>().items!;
    expect(names.map(({ metadata }) => metadata.name)).toEqual(['g']);
  }, 60_000);

  it('are taken over by another server when theirs stops', async () => {
    plane = await new Plane({ controllers: 'namespace,garbagecollector,serviceaccount' }).start();
    const isThere = ({ status }: Answer) => status === 200;
    await eventually('the peer', () => plane.ask(plane.older, podGroups('default')), isThere, WITHIN_MS);
    await plane.namespace('shop');
    const account = '/api/v1/namespaces/shop/serviceaccounts/default';
    await eventually('the account', () => plane.ask(plane.newer, account), isThere, WITHIN_MS);
    await plane.older.close();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: MISSING_UID };
    await plane.make(plane.newer, configMaps('shop'), { metadata: { name: 'garbage', ownerReferences: [owner] } });
    await eventually(
      'the garbage is gone',
      () => plane.ask(plane.newer, `${configMaps('shop')}/garbage`),
      ({ status }) => status === 404,
      WITHIN_MS,
    );
  }, 60_000);
});

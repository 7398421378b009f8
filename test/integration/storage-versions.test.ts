import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiServerId } from '../../src/apiserver/storage-versions/api-server-id.js';
import type { RunningServer } from '../../src/compose/start-server.js';
import { makeCertificates } from './certificates.js';
import { eventually } from './control-plane.js';
import { startEmbedded, temporaryDirectory } from './embedded-server.js';
import { type Answer, type Ask, ask } from './https-client.js';

interface StorageVersion {
  readonly status: {
    readonly storageVersions?: {
      readonly apiServerID: string;
      readonly encodingVersion: string;
      readonly decodableVersions: string[];
      readonly servedVersions: string[];
    }[];
    readonly commonEncodingVersion?: string;
    readonly conditions?: { readonly type: string; readonly status: string }[];
  };
}

const certificates = makeCertificates();
const admin = certificates.user('admin', 'system:masters');
const store = temporaryDirectory();
let a: RunningServer;
let b: RunningServer;

beforeAll(async () => {
  const enabled = 'internal.apiserver.k8s.io/v1alpha1=true,admissionregistration.k8s.io/v1beta1=true';
  const flags = { 'runtime-config': enabled };
  [a, b] = await Promise.all([
    startEmbedded(certificates, store.path, { ...flags, 'server-name': 'a', 'kubernetes-version': '1.35' }),
    startEmbedded(certificates, store.path, { ...flags, 'server-name': 'b', 'kubernetes-version': '1.36' }),
  ]);
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  store.remove();
  certificates.remove();
});

const send = ({ port }: RunningServer, path: string, options: Ask = {}): Promise<Answer> =>
  ask({ port, ca: certificates.ca.pem }, path, { as: admin, ...options });

const PATH = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Whose entries it has; empty where there is no such object. */
function writers(name: string): Promise<string[]> {
  return send(a, `${PATH}/${name}`).then((answer) =>
    (answer.json<StorageVersion>().status?.storageVersions ?? []).map(({ apiServerID }) => apiServerID).sort(),
  );
}

const isBoth = (ids: readonly string[]): boolean => ids.length === 2;
const isNone = (ids: readonly string[]): boolean => ids.length === 0;
const version = (name: string, served: boolean, storage: boolean) => ({
  ...{ name, served, storage },
  schema: { openAPIV3Schema: { type: 'object' } },
});

describe('StorageVersion objects', () => {
  it('contain the versions that every server encodes, decodes and serves', async () => {
    const ids = await eventually('both to tell', () => writers('storage.k8s.io.volumeattachments'), isBoth, 15_000);
    expect(ids).toEqual([apiServerId('a'), apiServerId('b')].sort());
    const { status } = (await send(b, `${PATH}/core.pods`)).json<StorageVersion>();
    expect(status.commonEncodingVersion).toBe('v1');
    expect(status.conditions).toMatchObject([{ type: 'AllEncodingVersionsEqual', status: 'True' }]);
    expect(status.storageVersions![0]).toMatchObject({ encodingVersion: 'v1', servedVersions: ['v1'] });
  });

  it('show servers that encode different versions and decode all of them', async () => {
    const name = 'admissionregistration.k8s.io.mutatingadmissionpolicybindings';
    await eventually('both to tell', () => writers(name), isBoth);
    const { status } = (await send(b, `${PATH}/${name}`)).json<StorageVersion>();
    expect(status.storageVersions!.map(({ encodingVersion }) => encodingVersion).sort()).toEqual([
      'admissionregistration.k8s.io/v1',
      'admissionregistration.k8s.io/v1beta1',
    ]);
    expect(status.commonEncodingVersion).toBeUndefined();
    expect(status.conditions).toMatchObject([{ type: 'AllEncodingVersionsEqual', status: 'False' }]);

    const at = (served: string) => `/apis/admissionregistration.k8s.io/${served}/mutatingadmissionpolicybindings`;
    const body = { metadata: { name: 'shared' }, spec: { policyName: 'nosuch' } };
    const made = await send(b, at('v1'), { method: 'POST', body });
    expect(made.status, made.text).toBe(201);
    expect((await send(a, `${at('v1beta1')}/shared`)).json()).toMatchObject({
      apiVersion: 'admissionregistration.k8s.io/v1beta1',
      spec: { policyName: 'nosuch' },
    });
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const patch = { metadata: { labels: { through: 'a' } } };
    await send(a, `${at('v1beta1')}/shared`, { method: 'PATCH', headers, body: patch });
    expect((await send(b, `${at('v1')}/shared`)).json()).toMatchObject({
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { labels: { through: 'a' } },
    });
  });

  it('are created, changed and deleted with a CustomResourceDefinition', async () => {
    const spec = {
      ...{ group: 'example.test', scope: 'Namespaced' },
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [version('v1', true, true), version('v1alpha1', false, false)],
    };
    const body = { metadata: { name: 'widgets.example.test' }, spec };
    expect((await send(a, CRDS, { method: 'POST', body })).status).toBe(201);
    await eventually('both to tell', () => writers('example.test.widgets'), isBoth);
    const entries = async () =>
      (await send(a, `${PATH}/example.test.widgets`)).json<StorageVersion>().status.storageVersions!;
    expect((await entries())[0]).toMatchObject({
      encodingVersion: 'example.test/v1',
      decodableVersions: ['example.test/v1', 'example.test/v1alpha1'],
      servedVersions: ['example.test/v1'],
    });
    const patch = { spec: { versions: [version('v2', true, true), version('v1', true, false)] } };
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const path = `${CRDS}/widgets.example.test`;
    expect((await send(b, path, { method: 'PATCH', headers, body: patch })).status).toBe(200);
    await eventually('both to write v2', entries, (all) =>
      all.every(({ encodingVersion }) => encodingVersion === 'example.test/v2'),
    );
    expect((await send(b, path, { method: 'DELETE' })).status).toBe(200);
    await eventually('nobody to tell', () => writers('example.test.widgets'), isNone);
  });

  it('drop the entry of a server that departed', async () => {
    await b.close();
    const left = await eventually(
      'only one to tell',
      () => writers('core.pods'),
      (ids) => ids.length === 1,
      15_000,
    );
    expect(left).toEqual([apiServerId('a')]);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSurface } from '../../src/apiserver/surfaces/load-surface.js';
import { SURFACE_FORMAT } from '../../src/apiserver/surfaces/surface-file.js';
import type { RunningServer } from '../../src/compose/start-server.js';
import { straddleLeaseName } from '../../src/proxy/peers/straddle-lease.js';
import { makeCertificates } from './certificates.js';
import { AGGREGATED, eventually, type LogLine } from './control-plane.js';
import { startEmbedded, temporaryDirectory } from './embedded-server.js';
import { type Answer, type Ask, ask } from './https-client.js';

const certificates = makeCertificates();
const admin = certificates.user('admin', 'system:masters');
const store = temporaryDirectory();
const logs: LogLine[] = [];
let a: RunningServer;
let b: RunningServer;

/** Only 1.36 has it, where it is switched on. */
const VERSION = '/apis/scheduling.k8s.io/v1alpha2';
const PODGROUPS = `${VERSION}/namespaces/default/podgroups`;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
// Long enough that no server departs on a busy machine.
const PATIENT = { 'peer-gone-after': '30s' };

beforeAll(async () => {
  const newer = { 'kubernetes-version': '1.36', 'runtime-config': 'scheduling.k8s.io/v1alpha2=true' };
  [a, b] = await Promise.all([
    startEmbedded(certificates, store.path, { ...PATIENT, 'kubernetes-version': '1.35' }, logs),
    startEmbedded(certificates, store.path, { ...PATIENT, ...newer, 'server-name': 'b' }, logs),
  ]);
  await eventually(
    'the peer',
    () => send(a, PODGROUPS),
    ({ status }) => status === 200,
  );
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  store.remove();
  certificates.remove();
});

const send = ({ port }: RunningServer, path: string, options: Ask = {}): Promise<Answer> =>
  ask({ port, ca: certificates.ca.pem }, path, { as: admin, ...options });

describe('two embedded servers of different versions on one store', () => {
  it('serve each other’s resources', async () => {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    const made = await send(a, PODGROUPS, { method: 'POST', body: { metadata: { name: 'one' }, spec } });
    expect(made.status, made.text).toBe(201);
    expect((await send(b, `${PODGROUPS}/one`)).json()).toMatchObject({ spec });
    expect((await send(a, `${PODGROUPS}/nosuch`)).json()).toMatchObject({
      reason: 'NotFound',
      details: { name: 'nosuch', group: 'scheduling.k8s.io', kind: 'podgroups' },
    });
  });

  it('pass on the warning of a peer that stores a policy and does not enforce it', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings';
    const made = await send(a, path, { method: 'POST', body: { metadata: { name: 'x' }, spec: { policyName: 'x' } } });
    expect([made.status, made.headers['warning']], made.text).toEqual([
      201,
      expect.stringMatching(
        /^299 - "this API server stores MutatingAdmissionPolicyBinding objects but does not enforce/,
      ),
    ]);
  });

  it('show the same discovery, in legacy forms too', async () => {
    const accept = { headers: { Accept: AGGREGATED } };
    const [here, there] = await Promise.all([send(a, '/apis', accept), send(b, '/apis', accept)]);
    expect(here.headers['etag']).toBe(there.headers['etag']);
    const list = await send(a, VERSION);
    expect(list.json<{ resources: { name: string }[] }>().resources.map(({ name }) => name)).toContain('podgroups');
    expect((await send(a, VERSION)).text).toBe((await send(b, VERSION)).text);
  });

  it('serve each other’s OpenAPI documents', async () => {
    const { paths } = (await send(a, '/openapi/v3')).json<{ paths: Record<string, { serverRelativeURL: string }> }>();
    const path = paths['apis/scheduling.k8s.io/v1alpha2']!.serverRelativeURL;
    // A form in which neither has it must not keep anyone from the one in which both have.
    const protobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
    expect((await send(a, path, { headers: { Accept: protobuf } })).status).toBe(406);
    expect((await send(a, path, { headers: { Accept: 'application/json' } })).text).toContain(
      'io.k8s.api.scheduling.v1alpha2.PodGroup',
    );
  });

  it('reply 503 to a peer that reroutes a resource that they lack', async () => {
    const as = certificates.frontProxy;
    const headers = {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
      'X-Kubernetes-Peer-Proxied': 'true',
    };
    const known = await send(b, PODGROUPS, { as, headers });
    expect(known.status).toBe(200);
    for (const path of [PODGROUPS, '/apis/apps/v1/namespaces/default/things', '/apis/nosuch.test/v1/things']) {
      expect((await send(a, path, { as, headers })).status, path).toBe(503);
    }
  });

  it('refuse a CustomResourceDefinition for a built-in resource of a peer of an unknown version', async () => {
    const { capturedFrom, version, groups, types } = await loadSurface('1.36');
    const resource = { name: 'futures', singular: 'future', kind: 'Future', namespaced: false, verbs: ['get', 'list'] };
    const added = { name: 'future.k8s.io', versions: [{ version: 'v1', resources: [resource] }] };
    const file = join(store.path, 'later.json');
    const later = { format: SURFACE_FORMAT, capturedFrom, version, types, groups: [...groups, added] };
    writeFileSync(file, JSON.stringify(later));
    const flags = { ...PATIENT, 'server-name': 'later', 'surface-file': file };
    const server = await startEmbedded(certificates, store.path, flags, logs);
    await eventually(
      'the peer',
      () => send(a, '/apis/future.k8s.io/v1/futures'),
      ({ status }) => status === 200,
    );
    const schema = { openAPIV3Schema: { type: 'object' } };
    const definition = {
      metadata: { name: 'futures.future.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
      spec: {
        group: 'future.k8s.io',
        scope: 'Cluster',
        names: { plural: 'futures', kind: 'Future' },
        versions: [{ name: 'v9', served: true, storage: true, schema }],
      },
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const refused = await send(a, path, { method: 'POST', body: definition });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('is built in to server \\"later\\" of this control plane'),
    ]);
    await server.close();
  });

  it('delete an object by a name outside ASCII', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const body = { metadata: { name: 'backdöor' }, roleRef, subjects: [] };
    expect((await send(a, path, { method: 'POST', body })).status).toBe(201);
    expect((await send(a, `${path}/backd%C3%B6or`, { method: 'DELETE' })).status).toBe(200);
    expect((await send(a, path)).text).not.toContain('backdöor');
  });

  it('take over the lease of a killed server of the same name', async () => {
    const name = straddleLeaseName('c');
    const renewTime = `${new Date().toISOString().slice(0, -1)}000Z`;
    const left = {
      metadata: { name, labels: { 'apiserver.kubernetes.io/identity': 'straddle', 'kubernetes.io/hostname': 'c' } },
      spec: { holderIdentity: 'killed', leaseDurationSeconds: 40, renewTime },
    };
    expect((await send(a, LEASES, { method: 'POST', body: left })).status).toBe(201);
    const c = await startEmbedded(certificates, store.path, { ...PATIENT, 'server-name': 'c' }, logs);
    const holder = async () =>
      (await send(a, `${LEASES}/${name}`)).json<{ spec: { holderIdentity: string } }>().spec.holderIdentity;
    await eventually('the lease to change hands', holder, (identity) => identity.startsWith('c_'));
    await c.close();
    expect((await send(a, `${LEASES}/${name}`)).status).toBe(404);
    expect(logs.filter(({ level, msg }) => level === 'error' || msg.includes('lease'))).toEqual([]);
  });
});

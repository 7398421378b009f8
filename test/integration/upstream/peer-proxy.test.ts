import { afterEach, describe, expect, it } from 'vitest';
import { AGGREGATED, eventually, NOPEER } from '../control-plane.js';
import { definitionOf, HOSTS, type MixedMember, MixedPlane, resourcesOf, versionsOf } from './mixed-plane.js';

/**
 * The integration tests of Kubernetes for KEP-4020 and the conformance tests of aggregated discovery, by name and intent.
 * docs/reference/upstream-tests.md has the table.
 */

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WITHOUT_BATCH = { api: { 'runtime-config': 'batch/v1=false' } };
const WITHOUT_APPS = { api: { 'runtime-config': 'apps/v1=false' } };

const JOB = {
  metadata: { name: 'test-job' },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.test/nothing' }] } },
  },
};

describe.each(HOSTS)('upstream integration tests, %s host:', (host) => {
  let plane: MixedPlane;
  afterEach(() => plane.close());

  const start = async (...members: Parameters<MixedPlane['add']>[]): Promise<MixedMember[]> => {
    plane = new MixedPlane(host);
    const added: MixedMember[] = [];
    for (const member of members) added.push(await plane.add(...member));
    return added;
  };
  const names = async (member: MixedMember) =>
    (await plane.ask(member, JOBS))
      .json<{ items: { metadata: { name: string } }[] }>()
      .items.map(({ metadata }) => metadata.name);

  it('TestPeerProxiedRequest: a Job created at server A is listed through server B, which has batch/v1 switched off', async () => {
    const [a, b] = (await start(['a'], ['b', WITHOUT_BATCH])) as [MixedMember, MixedMember];
    expect((await plane.ask(a, JOBS, { method: 'POST', body: JOB })).status).toBe(201);
    await plane.served(b, JOBS);
    expect(await names(b)).toEqual(['test-job']);
    expect(await plane.metrics(b)).toMatch(
      /apiserver_rerouted_request_total\{code="200",group="batch",version="v1",resource="jobs"\} \d/,
    );
  });

  // Upstream waits up to a minute for the lease of the stopped server to expire. Straddle sends the first request on.
  it('TestPeerProxiedRequestToThirdServerAfterFirstDies: every request through B is answered, by C, from the first after A has stopped', async () => {
    const [a, b] = (await start(['a'], ['b', WITHOUT_BATCH], ['c'])) as [MixedMember, MixedMember];
    expect((await plane.ask(a, JOBS, { method: 'POST', body: JOB })).status).toBe(201);
    await plane.served(b, JOBS);
    await eventually(
      'B to know both peers',
      () => plane.metrics(b),
      (text) => ['a', 'c'].every((peer) => text.includes(`straddle_surface_age_seconds{server="${peer}"`)),
    );
    await a.stop();
    for (let i = 0; i < 10; i++) {
      const answer = await plane.ask(b, JOBS);
      expect(answer.status, answer.text).toBe(200);
    }
    expect(await names(b)).toEqual(['test-job']);
  });

  it('TestPeerAggregatedDiscovery: identity leases, local view without the APIs switched off, merged view with them', async () => {
    const [a, b] = (await start(['a', WITHOUT_APPS], ['b', WITHOUT_BATCH])) as [MixedMember, MixedMember];
    for (const member of [a, b])
      await eventually(
        `apps/v1 and batch/v1 in the merged discovery of ${member.name}`,
        () => plane.discovery(member),
        (answer) => answer.status === 200 && ['apps/v1', 'batch/v1'].every((each) => versionsOf(answer).includes(each)),
      );
    // CheckIdentityLeases. The label differs: `straddle`, because these are not kube-apiservers.
    const leases = await plane.ask(a, `${LEASES}?labelSelector=apiserver.kubernetes.io/identity%3Dstraddle`);
    expect(leases.json<{ items: unknown[] }>().items).toHaveLength(2);
    // NoPeerDiscoveryWorks
    const localA = versionsOf(await plane.discovery(a, NOPEER));
    const localB = versionsOf(await plane.discovery(b, NOPEER));
    expect([localA.includes('apps/v1'), localA.includes('batch/v1')]).toEqual([false, true]);
    expect([localB.includes('apps/v1'), localB.includes('batch/v1')]).toEqual([true, false]);
    // PeerAggregatedDiscoveryEndpoint; stricter than upstream: the same bytes, and legacy discovery is merged too.
    expect((await plane.discovery(a)).text).toBe((await plane.discovery(b)).text);
    expect((await plane.ask(a, '/apis/apps/v1')).json()).toMatchObject({ kind: 'APIResourceList' });
    expect((await plane.ask(b, '/apis/batch/v1')).json()).toMatchObject({ kind: 'APIResourceList' });
  });

  // Upstream keeps CRDs out of peer data by an exclusion list with a grace period. Straddle has no exceptions for CRDs.
  it('TestPeerAggregatedDiscoveryWithCRD: the group of a CRD enters and leaves the discovery of both servers', async () => {
    const [a, b] = (await start(['a', WITHOUT_APPS], ['b', WITHOUT_BATCH])) as [MixedMember, MixedMember];
    const has = (member: MixedMember, wanted: boolean, accept = AGGREGATED) =>
      eventually(
        `example.com to ${wanted ? 'enter' : 'leave'} the discovery of ${member.name}`,
        () => plane.discovery(member, accept),
        (answer) => answer.status === 200 && versionsOf(answer).includes('example.com/v1') === wanted,
      );
    await plane.served(b, JOBS);
    const made = await plane.ask(a, DEFINITIONS, { method: 'POST', body: definitionOf('example.com', 'foos', 'Foo') });
    expect(made.status, made.text).toBe(201);
    for (const member of [a, b]) await has(member, true);
    expect((await plane.ask(a, `${DEFINITIONS}/foos.example.com`, { method: 'DELETE' })).status).toBe(200);
    for (const member of [a, b]) await has(member, false);
    for (const member of [a, b]) await has(member, false, NOPEER);
  });
});

/** Resources that every conformant cluster serves. */
const BUILT_IN = [
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  'apiextensions.k8s.io/v1/customresourcedefinitions',
  'apiregistration.k8s.io/v1/apiservices',
  'apps/v1/deployments',
  'authentication.k8s.io/v1/tokenreviews',
  'authorization.k8s.io/v1/selfsubjectaccessreviews',
  'autoscaling/v1/horizontalpodautoscalers',
  'autoscaling/v2/horizontalpodautoscalers',
  'batch/v1/jobs',
  'certificates.k8s.io/v1/certificatesigningrequests',
  'coordination.k8s.io/v1/leases',
  'discovery.k8s.io/v1/endpointslices',
  'events.k8s.io/v1/events',
  'networking.k8s.io/v1/ingresses',
  'node.k8s.io/v1/runtimeclasses',
  'policy/v1/poddisruptionbudgets',
  'scheduling.k8s.io/v1/priorityclasses',
  'storage.k8s.io/v1/csinodes',
];

/** The Accept header with which client-go's aggregated discovery client asks: newest first, legacy last. */
const CLIENT_GO = `${AGGREGATED},${AGGREGATED.replace('v=v2;', 'v=v2beta1;')},application/json`;

describe.each(HOSTS)('conformance of aggregated discovery in a mixed control plane, %s host:', (host) => {
  let plane: MixedPlane;
  afterEach(() => plane.close());

  /** Neither server has all built-in resources: what a client sees whole is the merged discovery. */
  const start = async () => {
    plane = new MixedPlane(host);
    const a = await plane.add('a', WITHOUT_APPS);
    const b = await plane.add('b', WITHOUT_BATCH);
    await plane.served(a, '/apis/apps/v1/deployments');
    await plane.served(b, JOBS);
    return { a, b };
  };
  const custom = async (member: MixedMember, group: string) => {
    const body = definitionOf(group, 'testcrds', 'TestCrd');
    expect((await plane.ask(member, DEFINITIONS, { method: 'POST', body })).status).toBe(201);
  };

  it('should support raw aggregated discovery endpoint Accept headers: all built-in resources at both servers', async () => {
    const { a, b } = await start();
    for (const member of [a, b]) {
      expect(resourcesOf(await plane.discovery(member))).toEqual(expect.arrayContaining(BUILT_IN));
      expect(resourcesOf(await plane.discovery(member, AGGREGATED, '/api'))).toContain('/v1/namespaces');
    }
  });

  it('should support raw aggregated discovery request for CRDs: seen at the server that did not create it, too', async () => {
    const { a, b } = await start();
    await custom(a, 'raw.example.com');
    for (const member of [a, b])
      await eventually(
        'the resource of the CRD',
        () => plane.discovery(member),
        (answer) => resourcesOf(answer).includes('raw.example.com/v1/testcrds'),
      );
  });

  it('should support aggregated discovery interface: the Accept header of client-go gets v2 with groups and resources', async () => {
    const { a, b } = await start();
    for (const member of [a, b]) {
      const [core, named] = await Promise.all([
        plane.discovery(member, CLIENT_GO, '/api'),
        plane.discovery(member, CLIENT_GO),
      ]);
      expect([core.headers['content-type'], named.headers['content-type']]).toEqual([AGGREGATED, AGGREGATED]);
      expect([...resourcesOf(core), ...resourcesOf(named)]).toEqual(
        expect.arrayContaining(['/v1/namespaces', ...BUILT_IN]),
      );
    }
  });

  it('should support aggregated discovery interface for CRDs: with the Accept header of client-go', async () => {
    const { a, b } = await start();
    await custom(b, 'client.example.com');
    for (const member of [a, b])
      await eventually(
        'the resource of the CRD',
        () => plane.discovery(member, CLIENT_GO),
        (answer) => resourcesOf(answer).includes('client.example.com/v1/testcrds'),
      );
  });
});

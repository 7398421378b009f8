import assert from 'node:assert/strict';
import { shippedVersions } from '../../../src/apiserver/surfaces/shipped-versions.js';
import { INFORMER_VERSIONS, INFORMERS, kubeProgram } from '../rig/binaries.js';
import { chosenServers } from '../rig/chosen-servers.js';
import { clientNodeVersion } from '../rig/client-node-version.js';
import { type ControlPlane, layoutOf, withNative } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call, type KubeObject } from '../rig/http-client.js';
import { clientGoVersion, Informer, JSON_TYPE, PROTOBUF_TYPE } from '../rig/informer.js';
import { Kubectl } from '../rig/kubectl.js';
import { oldKubectl, oldKubectlVersion } from '../rig/old-kubectl.js';
import { type KubeVersion, pinnedVersions } from '../rig/pinned-versions.js';
import { servedOnlyByNewer } from '../rig/surface-of.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { clientNodeWorks } from './18-client-node.js';
import { type AnyKubectl, explainsAlike, job, listsAlike, registerAgain, works } from './kubectl-checks.js';
import { newerApi, newerGroupVersion, newerObject, newerResource } from './newer-api.js';
import { jobsIn } from './watches/job-writer.js';

/** Valid objects of APIs that are served with default flags; the first one that only B and C serve is used. */
const SPECS: Readonly<Record<string, object>> = {
  'storagemigration.k8s.io/v1/storageversionmigrations': { resource: { group: 'apps', resource: 'deployments' } },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings': { policyName: 'nobody.example.test' },
  'resource.k8s.io/v1/deviceclasses': {},
};

export const clients: Scenario = {
  number: 50,
  name: 'kubectl 1.20 and of every shipped minor, client-go informers and client-node through A’s Straddle, native feature off and on',
  timeoutMs: 900_000,
  programs: () => [...kubectlReleases().map((release) => kubeProgram('kubectl', release)), ...INFORMERS],
  async run(context) {
    const { plane } = context;
    for (const layout of [layoutOf('batch'), withNative(layoutOf('batch'))]) {
      await plane.arrange(layout);
      await registerAgain(plane);
      await everyKubectl(context);
      await informers(context);
      await clientNodeWorks(plane, [await context.namespace(), await context.namespace()]);
      context.worked({ name: '@kubernetes/client-node', version: clientNodeVersion() });
    }
  },
};

/** The newest pinned release of each Kubernetes version that ships with Straddle. */
function kubectlReleases(): KubeVersion[] {
  const pinned = pinnedVersions();
  return shippedVersions().flatMap((minor) => pinned.get(minor) ?? []);
}

async function everyKubectl({ plane, namespace, worked }: ScenarioContext): Promise<void> {
  const all: [string, AnyKubectl][] = [[oldKubectlVersion(), oldKubectl(plane)]];
  for (const release of kubectlReleases()) {
    const kubectl = new Kubectl(plane.kubeconfig, `${plane.dir}/kubectl-${release}`, release);
    all.push([release.slice(1), (options, ...args) => kubectl.try(options, ...args)]);
  }
  for (const [version, kubectl] of all) {
    const ns = await namespace();
    await listsAlike(kubectl, `kubectl ${version}`);
    for (const { resource, manifest } of [newerByDefault(), switchedOn(), { resource: 'jobs', manifest: job('one') }]) {
      await works(kubectl, ns, { name: resource, manifest });
    }
    // A server publishes its OpenAPI some time after its discovery.
    await eventually(`kubectl ${version} explains alike`, () => explainsNewer(kubectl), { timeoutMs: 30_000 });
    worked({ name: 'kubectl', version });
  }
}

async function explainsNewer(kubectl: AnyKubectl): Promise<true> {
  for (const { apiVersion, kind } of [newerByDefault().manifest, switchedOn().manifest]) {
    await explainsAlike(kubectl, `${kind?.toLowerCase()}.spec`, `--api-version=${apiVersion}`);
  }
  return true;
}

interface Newer {
  readonly resource: string;
  readonly manifest: KubeObject;
}

/** What B and C serve with default flags and A does not, else what they have switched on. */
function newerByDefault(): Newer {
  const found = servedOnlyByNewer(chosenServers()).find(
    ({ group, version, resource }) => SPECS[`${group}/${version}/${resource}`] !== undefined,
  );
  if (found === undefined) return switchedOn();
  const { group, version, resource, kind } = found;
  const spec = SPECS[`${group}/${version}/${resource}`]!;
  return {
    resource: `${resource}.${group}`,
    manifest: { apiVersion: `${group}/${version}`, kind, metadata: { name: 'newer-by-default' }, spec },
  };
}

function switchedOn(): Newer {
  assert.ok(newerApi());
  return { resource: newerResource(), manifest: { ...newerObject('switched-on'), apiVersion: newerGroupVersion() } };
}

/** Informers of Jobs, which A does not serve, in both encodings. */
async function informers(context: ScenarioContext): Promise<void> {
  const { plane, worked } = context;
  for (const version of INFORMER_VERSIONS) {
    for (const contentType of [JSON_TYPE, PROTOBUF_TYPE] as const)
      await informerSeesAJob(context, version, contentType);
    worked({ name: 'client-go informers', version: clientGoVersion(version) });
  }
  assert.ok(plane.a.straddle.running);
}

async function informerSeesAJob(
  { plane, namespace, defer }: ScenarioContext,
  version: (typeof INFORMER_VERSIONS)[number],
  contentType: typeof JSON_TYPE | typeof PROTOBUF_TYPE,
): Promise<void> {
  const ns = await namespace();
  const { dir, kubeconfig } = plane;
  await mustBe(plane, 201, jobsIn(ns), { method: 'POST', body: job('initial') });
  const informer = new Informer({ dir, kubeconfig, context: 'straddle-a', namespace: ns, version, contentType });
  defer(() => informer.process.stop());
  await informer.synced();
  await mustBe(plane, 201, jobsIn(ns), { method: 'POST', body: job('later') });
  await mustBe(plane, 200, `${jobsIn(ns)}/later`, { method: 'DELETE', body: { propagationPolicy: 'Background' } });
  const wanted = ['ADDED initial', 'ADDED later', 'DELETED later'];
  const seen = (): string[] => informer.of('change').map(({ type, name }) => `${type} ${name}`);
  await eventually(`${informer.name} saw ${wanted.join(', ')}`, () => seen().length >= wanted.length);
  assert.deepEqual(seen(), wanted, informer.name);
  assert.deepEqual(informer.of('error'), [], informer.name);
  assert.equal(informer.of('answer')[0]?.contentType?.split(';')[0], contentType, informer.name);
  await informer.process.stop();
}

async function mustBe(
  { a }: ControlPlane,
  status: number,
  path: string,
  request: NonNullable<Parameters<typeof call>[2]>,
): Promise<void> {
  const answer = await call(a.straddle.admin, path, request);
  assert.equal(answer.status, status, `${request.method} ${path}: ${answer.text}`);
}

import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { type ControlPlane, startControlPlane } from 'straddle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyNotFound, type IsGone, namedNotFound, type Outcome, PodGroupMirror } from './operator.js';

const NAMESPACE = 'default';
const GROUP = { group: 'scheduling.k8s.io', version: 'v1alpha2', namespace: NAMESPACE, plural: 'podgroups' };
/** Enough requests for the load balancer to pick every server. */
const ROUNDS = 6;

// The state in the middle of an upgrade: Kubernetes 1.36 has PodGroups if they are turned on, 1.35 has not.
const MIXED = { versions: ['1.35', '1.36'], runtimeConfig: ['scheduling.k8s.io/v1alpha2=true'] };

function kubeConfig(plane: ControlPlane, context: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(plane.kubeconfig);
  config.setCurrentContext(context);
  return config;
}

async function makePodGroup(plane: ControlPlane, name: string): Promise<void> {
  await kubeConfig(plane, 'server-2')
    .makeApiClient(CustomObjectsApi)
    .createNamespacedCustomObject({
      ...GROUP,
      body: {
        apiVersion: 'scheduling.k8s.io/v1alpha2',
        kind: 'PodGroup',
        metadata: { name },
        spec: { schedulingPolicy: { gang: { minCount: 2 } } },
      },
    });
}

async function hasMirror(plane: ControlPlane, name: string): Promise<boolean> {
  const { items } = await kubeConfig(plane, 'server-2')
    .makeApiClient(CoreV1Api)
    .listNamespacedConfigMap({ namespace: NAMESPACE });
  return items.some(({ metadata }) => metadata?.name === name);
}

/** Returns the results of several reconciliations of a PodGroup that exists all the time. */
async function rounds(plane: ControlPlane, isGone: IsGone, name: string): Promise<Set<Outcome>> {
  await makePodGroup(plane, name);
  const operator = new PodGroupMirror(kubeConfig(plane, 'front'), isGone);
  const outcomes = new Set<Outcome>();
  for (let round = 0; round < ROUNDS; round++) outcomes.add(await operator.reconcile(NAMESPACE, name));
  return outcomes;
}

/** Checks that an operator removes the mirror of a deleted PodGroup. */
async function removes(plane: ControlPlane, isGone: IsGone, name: string): Promise<void> {
  await makePodGroup(plane, name);
  const operator = new PodGroupMirror(kubeConfig(plane, 'server-2'), isGone);
  expect(await operator.reconcile(NAMESPACE, name)).toBe('mirrored');
  await kubeConfig(plane, 'server-2')
    .makeApiClient(CustomObjectsApi)
    .deleteNamespacedCustomObject({ ...GROUP, name });
  expect(await operator.reconcile(NAMESPACE, name)).toBe('removed');
  expect(await hasMirror(plane, name)).toBe(false);
}

describe('an operator in the middle of an upgrade, without the proxy,', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ ...MIXED, proxy: false });
  });
  afterAll(() => plane.close());

  it('deletes the mirror of an existing PodGroup if it believes every 404', async () => {
    expect(await rounds(plane, anyNotFound, 'careless')).toContain('removed');
  });

  it('keeps the mirror and retries if it reads the details of a 404', async () => {
    expect(await rounds(plane, namedNotFound, 'careful')).toEqual(new Set<Outcome>(['mirrored', 'tries again']));
    expect(await hasMirror(plane, 'careful')).toBe(true);
  });

  it('removes the mirror of a deleted PodGroup in both cases', async () => {
    await removes(plane, anyNotFound, 'deleted-careless');
    await removes(plane, namedNotFound, 'deleted-careful');
  });
});

describe('an operator in the middle of an upgrade, with the proxy,', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ ...MIXED, proxy: true });
  });
  afterAll(() => plane.close());

  it.each([
    ['that believes every 404', 'careless', anyNotFound],
    ['that reads the answer', 'careful', namedNotFound],
  ])('%s keeps the mirror of an existing PodGroup', async (_, name, isGone) => {
    expect(await rounds(plane, isGone, name)).toEqual(new Set<Outcome>(['mirrored']));
    expect(await hasMirror(plane, name)).toBe(true);
    await removes(plane, isGone, `deleted-${name}`);
  });

  it('keeps the mirror while the only server with PodGroups is down, and after the upgrade', async () => {
    const operator = new PodGroupMirror(kubeConfig(plane, 'front'), anyNotFound);
    await plane.kill('server-2');
    expect(await operator.reconcile(NAMESPACE, 'careless')).toBe('tries again');
    await plane.start('server-2');
    await plane.roll({ to: '1.36' });
    expect(await operator.reconcile(NAMESPACE, 'careless')).toBe('mirrored');
    expect(await hasMirror(plane, 'careless')).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { FakeApi, fakeResource, NAMESPACES, POD_GROUPS, status } from '../../apiserver/controllers/fake-api.fixture.js';
import { choose } from './choice.js';
import { differencesBetween } from './differences.js';
import { MixedApi } from './mixed-api.fixture.js';
import { planOf } from './plan.js';

const WORKLOADS = fakeResource('scheduling.k8s.io/v1alpha1/workloads', 'Workload');
const WIDGETS = fakeResource('example.com/v1/widgets', 'Widget');

async function setUp(...newer: (typeof POD_GROUPS)[]) {
  const [older, api] = [new FakeApi([NAMESPACES]), new FakeApi([NAMESPACES, ...newer])];
  const differences = differencesBetween((await older.discover()).groups, (await api.discover()).groups);
  const choice = choose({ from: '1.35', to: '1.36', differences, manifests: [] });
  return {
    api,
    plan: () => planOf(choice, { api: new MixedApi(api, 'newer'), namespace: 'shop', advice: 'give other versions' }),
  };
}

describe('the plan of a half', () => {
  it('has the first template that the server accepts, and stores nothing', async () => {
    const { api, plan } = await setUp(POD_GROUPS, WIDGETS, WORKLOADS);
    api.intercept = ({ target, body }) =>
      target.includes('/workloads') && JSON.stringify(body).includes('podGroupTemplates')
        ? status(422, 'Invalid')
        : undefined;
    const { resources } = await plan();
    expect(resources.map(({ name, template }) => [name, template])).toEqual([
      ['widgets.v1.example.com', {}],
      ['podgroups.v1alpha2.scheduling.k8s.io', { spec: { schedulingPolicy: { gang: { minCount: 2 } } } }],
      [
        'workloads.v1alpha1.scheduling.k8s.io',
        { spec: { podGroups: [{ name: 'a', policy: { gang: { minCount: 2 } } }] } },
      ],
    ]);
    for (const place of [POD_GROUPS, WIDGETS, WORKLOADS]) expect(api.names(place)).toEqual([]);
  });

  it('lacks what the server refuses, with its reply as the reason', async () => {
    const { api, plan } = await setUp(POD_GROUPS, WIDGETS);
    api.intercept = ({ target }) => (target.includes('/widgets') ? status(422, 'spec.size is required') : undefined);
    const { resources, uses } = await plan();
    expect(resources.map(({ name }) => name)).toEqual(['podgroups.v1alpha2.scheduling.k8s.io']);
    expect(uses[0]).toEqual({
      name: 'widgets.v1.example.com',
      servedBy: '1.36',
      exercises: [],
      reason: '1.36 refuses an object of it (422 spec.size is required); put one into --manifests',
    });
  });

  it('rejects with the replies if the server refuses everything', async () => {
    const { api, plan } = await setUp(WIDGETS);
    api.intercept = () => status(422, 'spec.size is required');
    await expect(plan()).rejects.toThrow(
      /^Nothing that differs between 1\.35 and 1\.36 can be exercised: widgets\.v1\.example\.com \(1\.36 refuses .*\); give other versions\.$/,
    );
  });
});

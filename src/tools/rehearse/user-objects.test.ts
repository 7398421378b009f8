import { describe, expect, it } from 'vitest';
import {
  CONFIG_MAPS,
  FakeApi,
  fakeResource,
  NAMESPACES,
  status,
} from '../../apiserver/controllers/fake-api.fixture.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { MixedApi } from './mixed-api.fixture.js';
import { applyUserObjects } from './user-objects.js';

const DEFINITIONS = fakeResource('apiextensions.k8s.io/v1/customresourcedefinitions', 'CustomResourceDefinition', {
  namespaced: false,
});
const WIDGETS = fakeResource('example.com/v1/widgets', 'Widget');
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { kind: 'Widget' } },
};
const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'mine', namespace: 'shop' } };
const SHOP = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const SETTINGS = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } };

function setUp() {
  const store = new FakeApi([NAMESPACES, CONFIG_MAPS, DEFINITIONS]);
  const clock = new ManualClock();
  const within = { clock, signal: new AbortController().signal };
  return { store, clock, api: new MixedApi(store, 'newer'), within };
}

describe('the objects of the user (--manifests)', () => {
  it('are created in an order that works, once their definitions are served', async () => {
    const { store, clock, api, within } = setUp();
    const applied = applyUserObjects(api, [WIDGET, SETTINGS, SHOP, DEFINITION], within);
    await clock.advance(1_000);
    store.resources = [...store.resources, WIDGETS];
    await clock.advance(1_000);
    expect(await applied).toEqual({
      paths: [
        '/api/v1/namespaces/shop',
        '/apis/example.com/v1/namespaces/shop/widgets/mine',
        '/api/v1/namespaces/default/configmaps/settings',
      ],
      left: [],
    });
  });

  it('are left for later if their kind is not served', async () => {
    const { api, within } = setUp();
    const { paths, left } = await applyUserObjects(api, [WIDGET, SETTINGS], within);
    expect(paths).toHaveLength(1);
    expect(left).toEqual([WIDGET]);
  });

  it('may exist from an earlier half', async () => {
    const { api, within } = setUp();
    await applyUserObjects(api, [SETTINGS], within);
    expect((await applyUserObjects(api, [SETTINGS], within)).paths).toHaveLength(1);
  });

  it('are named in the error if one is refused, or if a definition is not served in time', async () => {
    const { store, clock, api, within } = setUp();
    store.intercept = ({ target }) => (target.endsWith('/configmaps') ? status(422, 'Invalid') : undefined);
    await expect(applyUserObjects(api, [SETTINGS], within)).rejects.toThrow(/^v1 ConfigMap settings .*: 422 Invalid/);
    const late = expect(applyUserObjects(api, [DEFINITION], within)).rejects.toThrow(
      /widgets\.example\.com is not served/,
    );
    await clock.advance(30_000);
    await late;
  });
});

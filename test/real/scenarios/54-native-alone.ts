import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chosenServers } from '../rig/chosen-servers.js';
import { AGGREGATED_V2, type Layout } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import { newerSettings, olderSettings } from '../rig/skew.js';
import { servedBy } from '../rig/surface-of.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { createNewer, newerApi, newerGroupVersion, newerPath } from './newer-api.js';

/** The native feature looks at its peers at its own pace. */
const NATIVE_TIMEOUT_MS = 90_000;
const CSI_NODE_STATUS = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes/status' };
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';

/** A and B with kube-apiserver's own mixed version proxy on, and no Straddle anywhere. */
function layout(): Layout {
  const { a, b } = chosenServers();
  return {
    kube: { a: { ...olderSettings(a), native: true }, b: { ...newerSettings(b), native: true }, c: undefined },
    straddle: { a: undefined, b: undefined, c: undefined },
  };
}

/** What docs/operations/native-proxy.md says of the native feature. The other scenarios show the same through Straddle. */
export const nativeAlone: Scenario = {
  number: 54,
  name: 'native feature on in A and B, no Straddle: what it does not cover, and wrong 404s while the newer server restarts',
  timeoutMs: 360_000,
  async run(context) {
    const { plane } = context;
    await plane.arrange(layout());
    const path = await createNewer(plane.b.kube.admin, await context.namespace(), 'on-b');
    await eventually(
      'A’s native proxy reroutes to B',
      async () => (await call(plane.a.kube.admin, path)).status === 200,
      { timeoutMs: NATIVE_TIMEOUT_MS },
    );
    await legacyDiscoveryAndExplain(context);
    await subresource(context);
    await restartOfB(context, path);
  },
};

async function legacyDiscoveryAndExplain({ plane }: ScenarioContext): Promise<void> {
  const legacy = await call(plane.a.kube.admin, newerPath());
  assert.equal(legacy.status, 404, `legacy discovery of ${newerGroupVersion()}: ${legacy.text}`);
  const explained = [newerApi().kind.toLowerCase(), `--api-version=${newerGroupVersion()}`];
  const { code, stderr } = await plane.kubectl.try({ context: 'raw-a' }, 'explain', ...explained);
  assert.notEqual(code, 0, 'explain of the newer API must fail');
  assert.match(stderr, /couldn't find resource|not found|doesn't have/i);
}

/** Merged discovery of A lists the subresource; a request for it is a 404. */
async function subresource({ plane, defer }: ScenarioContext): Promise<void> {
  const { a, b } = chosenServers();
  if (servedBy(a, CSI_NODE_STATUS) !== undefined || servedBy(b, CSI_NODE_STATUS) !== 'by default') return;
  const admin = plane.a.kube.admin;
  const object = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'native' },
    spec: { drivers: [] },
  };
  const created = await call(admin, CSI_NODES, { method: 'POST', body: object });
  assert.equal(created.status, 201, created.text);
  defer(() => call(plane.b.kube.admin, `${CSI_NODES}/native`, { method: 'DELETE' }));
  await eventually(
    'merged discovery of A lists csinodes/status',
    async () => listsCsiNodeStatus((await call(admin, '/apis', { headers: { accept: AGGREGATED_V2 } })).json()),
    {
      timeoutMs: NATIVE_TIMEOUT_MS,
    },
  );
  const patch = {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { status: {} },
  };
  const atA = await call(admin, `${CSI_NODES}/native/status`, patch);
  assert.equal(atA.status, 404, atA.text);
  const atB = await call(plane.b.kube.admin, `${CSI_NODES}/native/status`, patch);
  assert.equal(atB.status, 200, atB.text);
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

function listsCsiNodeStatus({ items }: Discovery): boolean {
  const versions = items
    .filter(({ metadata }) => metadata.name === 'storage.k8s.io')
    .flatMap((group) => group.versions);
  const nodes = versions
    .filter(({ version }) => version === 'v1')
    .flatMap(({ resources }) => resources.filter(({ resource }) => resource === 'csinodes'));
  return nodes.some(({ subresources = [] }) => subresources.some((each) => each.subresource === 'status'));
}

/** B, which alone serves the API, stops in order and starts again: A answers 404 meanwhile, as if the API did not exist. */
async function restartOfB({ plane }: ScenarioContext, path: string): Promise<void> {
  const settings = plane.b.kube.settings ?? assert.fail();
  const seen = new Map<number, number>();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const { status } = await call(plane.a.kube.admin, path, { timeoutMs: 10_000 }).catch(() => ({ status: 0 }));
      seen.set(status, (seen.get(status) ?? 0) + 1);
      await delay(100);
    }
  })();
  await plane.b.kube.stop();
  await delay(3_000);
  await plane.b.kube.start(settings);
  isOver = true;
  await asking;
  const told = [...seen].map(([status, count]) => `${count} × ${status}`).join(', ');
  assert.ok((seen.get(404) ?? 0) > 0, `no wrong 404 while B restarted: ${told}`);
}

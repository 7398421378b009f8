import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf, SERVER_NAMES } from '../rig/control-plane.js';
import type { KubeObject } from '../rig/http-client.js';
import { oldKubectl } from '../rig/old-kubectl.js';
import { NEWER } from '../rig/skew.js';
import type { Scenario } from '../scenario.js';
import { podGroup } from './podgroups.js';

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type AnyKubectl = (
  options: { readonly context: string; readonly input?: object },
  ...args: string[]
) => Promise<Result>;

export const oldAndNewKubectl: Scenario = {
  number: 17,
  name: 'kubectl 1.20 and 1.36: same api-resources and api-versions everywhere; what only B serves works with both',
  timeoutMs: 240_000,
  async run({ plane, namespace }) {
    const kubectls: [string, AnyKubectl][] = [
      ['1.20', oldKubectl(plane)],
      ['1.36', (options, ...args) => plane.kubectl.try(options, ...args)],
    ];
    for (const skew of ['default', 'batch'] as const) {
      await plane.arrange(layoutOf(skew));
      for (const [version, kubectl] of kubectls) {
        await listsAlike(kubectl, `${skew}, kubectl ${version}`);
        const ns = await namespace();
        await works(kubectl, ns, { name: 'podgroups.scheduling.k8s.io', manifest: podGroup('one') });
        await works(kubectl, ns, { name: 'jobs', manifest: job('one') });
      }
      await registerAgain(plane);
      await oldKubectlKnowsTheFields(plane, await namespace());
    }
  },
};

/** The same rows through every Straddle, and everything that B shows is among them. */
async function listsAlike(kubectl: AnyKubectl, what: string): Promise<void> {
  for (const args of [['api-resources'], ['api-resources', '-o', 'wide'], ['api-versions']]) {
    const rows = async (context: string): Promise<string[]> => {
      const { code, stdout, stderr } = await kubectl({ context }, ...args);
      assert.equal(code, 0, `${what}: ${args.join(' ')} (${context}): ${stderr}`);
      return stdout.trimEnd().split('\n').map(withoutPadding);
    };
    const [first = [], ...others] = await Promise.all(SERVER_NAMES.map((name) => rows(`straddle-${name}`)));
    for (const other of others) assert.deepEqual(other, first, `${what}: ${args.join(' ')}`);
    const lacking = (await rows('raw-b')).filter((row) => !first.includes(row));
    assert.deepEqual(lacking, [], `${what}: ${args.join(' ')} lacks what straight at B shows`);
    assert.ok(
      first.some((row) => /podgroup|scheduling\.k8s\.io\/v1alpha2/.test(row)),
      `${what}: ${args.join(' ')} lacks podgroups`,
    );
  }
}

/** Columns are as wide as the widest row makes them. */
function withoutPadding(row: string): string {
  return row.trim().replace(/ {2,}/g, '  ');
}

async function works(
  kubectl: AnyKubectl,
  ns: string,
  { name: resource, manifest }: { name: string; manifest: KubeObject },
): Promise<void> {
  const context = 'straddle-a';
  const name = manifest.metadata?.name ?? '';
  const ok = async (input: object | undefined, ...args: string[]): Promise<string> => {
    const result = await kubectl(input === undefined ? { context } : { context, input }, '-n', ns, ...args);
    assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  await ok(manifest, 'create', '-f', '-');
  assert.match(await ok(undefined, 'get', resource), new RegExp(`^NAME.*\n${name} `));
  assert.equal(await ok(undefined, 'get', resource, name, '-o', 'jsonpath={.metadata.name}'), name);
  await ok(undefined, 'label', resource, name, 'touched=yes');
  assert.match(await ok(undefined, 'describe', resource, name), /touched=yes/);
  // Finalizers are taken off by controllers, which do not run here.
  await ok(undefined, 'patch', resource, name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  await ok(undefined, 'delete', resource, name);
  const after = await kubectl({ context }, '-n', ns, 'get', resource, name);
  assert.match(after.stderr, /NotFound/);
}

/**
 * A kube-apiserver that starts deletes the APIServices of built-in groups that it does not know, and B puts its own back
 * only when it starts. Until then its legacy lists lack what it serves, and there would be nothing to compare with.
 */
async function registerAgain(plane: ControlPlane): Promise<void> {
  await plane.b.kube.stop();
  await plane.b.kube.start(NEWER);
  await plane.converged();
}

/** It validates before it sends, with OpenAPI v2, and explains from it. */
async function oldKubectlKnowsTheFields(plane: ControlPlane, ns: string): Promise<void> {
  const kubectl = oldKubectl(plane);
  const misspelt = { ...podGroup('misspelt'), spec: { schedulngPolicy: {} } };
  const refused = async (context: string): Promise<Result> =>
    kubectl({ context, input: misspelt }, '-n', ns, 'create', '-f', '-');
  const straight = await refused('raw-b');
  assert.match(straight.stderr, /unknown field "schedulngPolicy"/);
  assert.deepEqual(await refused('straddle-a'), straight);
  for (const args of [['podgroup', '--api-version=scheduling.k8s.io/v1alpha2'], ['job.spec']]) {
    const explained = await kubectl({ context: 'raw-b' }, 'explain', ...args);
    assert.equal(explained.code, 0, explained.stderr);
    assert.deepEqual(await kubectl({ context: 'straddle-a' }, 'explain', ...args), explained);
  }
}

function job(name: string): KubeObject {
  const containers = [{ name: 'main', image: 'example.test/nothing' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { spec: { containers, restartPolicy: 'Never' } } },
  };
}

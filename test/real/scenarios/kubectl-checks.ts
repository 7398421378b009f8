import assert from 'node:assert/strict';
import type { ControlPlane } from '../rig/control-plane.js';
import type { KubeObject } from '../rig/http-client.js';
import { SERVER_NAMES } from '../rig/plane.js';
import { newerApi, newerGroupVersion, newerResource } from './newer-api.js';

export interface KubectlAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl of whatever version. */
export type AnyKubectl = (
  options: { readonly context: string; readonly input?: object },
  ...args: string[]
) => Promise<KubectlAnswer>;

/** The same rows through every Straddle, and everything that B shows is among them. */
export async function listsAlike(kubectl: AnyKubectl, what: string): Promise<void> {
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
      first.some((row) => row.includes(newerApi().kind) || row.includes(newerGroupVersion())),
      `${what}: ${args.join(' ')} lacks ${newerResource()}`,
    );
  }
}

/** Columns are as wide as the widest row makes them. */
function withoutPadding(row: string): string {
  return row.trim().replace(/ {2,}/g, '  ');
}

/** Every step of an object's life through A’s Straddle. */
export async function works(
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
  assert.match(await ok(undefined, 'get', resource), new RegExp(`^NAME.*\n(.*\n)*${name} `));
  assert.equal(await ok(undefined, 'get', resource, name, '-o', 'jsonpath={.metadata.name}'), name);
  await ok(undefined, 'label', resource, name, 'touched=yes');
  assert.match(await ok(undefined, 'describe', resource, name), /touched=yes/);
  // Finalizers are taken off by controllers, which do not run here.
  await ok(undefined, 'patch', resource, name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  await ok(undefined, 'delete', resource, name);
  const after = await kubectl({ context }, '-n', ns, 'get', resource, name);
  assert.match(after.stderr, /NotFound/);
}

/** What it explains through A’s Straddle is what it explains straight at B. */
export async function explainsAlike(kubectl: AnyKubectl, ...args: string[]): Promise<void> {
  const explained = await kubectl({ context: 'raw-b' }, 'explain', ...args);
  assert.equal(explained.code, 0, `explain ${args.join(' ')} straight at B: ${explained.stderr}`);
  assert.deepEqual(await kubectl({ context: 'straddle-a' }, 'explain', ...args), explained);
}

/**
 * A kube-apiserver that starts deletes the APIServices of built-in groups that it does not know, and B puts its own back
 * only when it starts. Until then its legacy lists lack what it serves, and there would be nothing to compare with.
 */
export async function registerAgain(plane: ControlPlane): Promise<void> {
  const settings = plane.b.kube.settings ?? assert.fail();
  await plane.b.kube.stop();
  await plane.b.kube.start(settings);
  await plane.converged();
}

export function job(name: string): KubeObject {
  const containers = [{ name: 'main', image: 'example.test/nothing' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { spec: { containers, restartPolicy: 'Never' } } },
  };
}

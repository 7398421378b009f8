import assert from 'node:assert/strict';
import type { KubeObject } from '../rig/http-client.js';
import type { KubectlResult } from '../rig/kubectl.js';
import { layoutOf, type Plane } from '../rig/plane.js';
import type { Skew } from '../rig/skew.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { newerApi, newerGroupVersion, newerObject } from './newer-api.js';

function explained(): string[][] {
  const { kind, field } = newerApi();
  const newer = kind.toLowerCase();
  const version = `--api-version=${newerGroupVersion()}`;
  const parent = field.path
    .replace(/\[\d+\]/g, '')
    .split('.')
    .slice(0, -1);
  return [
    [newer, version],
    [[newer, 'spec', ...parent].join('.'), version],
    [newer, version, '--recursive'],
    ['job'],
    ['job.spec.template.spec.containers'],
    ['job', '--recursive'],
    ['pod.spec', '--recursive'],
  ];
}

export const explainAndValidate = {
  number: 16,
  name: 'kubectl explain and apply --validate=strict through A’s Straddle print what they print straight at B',
  async run({ plane, namespace }: ScenarioContext<Plane>) {
    for (const skew of ['default', 'batch'] as const) {
      await plane.arrange(layoutOf(skew));
      await explainsAlike(plane, skew);
      await validatesAlike(plane, skew, [await namespace(), await namespace()]);
    }
  },
} satisfies Scenario;

async function explainsAlike(plane: Plane, skew: Skew): Promise<void> {
  for (const args of explained()) {
    const through = await plane.kubectl.try({ context: 'straddle-a' }, 'explain', ...args);
    const straight = await plane.kubectl.try({ context: 'raw-b' }, 'explain', ...args);
    assert.equal(straight.code, 0, `explain ${args.join(' ')} straight at B: ${straight.stderr}`);
    assert.deepEqual(through, straight, `${skew}: explain ${args.join(' ')}`);
  }
  const straightAtA = await plane.kubectl.try({ context: 'raw-a' }, 'explain', ...explained()[0]!);
  assert.notEqual(straightAtA.code, 0, 'A itself must not explain the newer API');
}

/** The same objects in two namespaces: through A's Straddle into one, straight at B into the other. */
async function validatesAlike(plane: Plane, skew: Skew, [here, there]: [string, string]): Promise<void> {
  for (const [what, object] of manifests()) {
    for (const validate of ['strict', 'warn', 'ignore']) {
      const apply = (context: string, ns: string): Promise<KubectlResult> =>
        plane.kubectl.try({ context, input: object }, '-n', ns, 'apply', `--validate=${validate}`, '-f', '-');
      const through = await apply('straddle-a', here);
      const straight = await apply('raw-b', there);
      assert.deepEqual(through, straight, `${skew}: apply --validate=${validate} of ${what}`);
      const refused = what.includes('misspelt') && validate === 'strict';
      assert.equal(straight.code === 0, !refused, `apply --validate=${validate} of ${what}: ${straight.stderr}`);
    }
  }
}

function manifests(): [string, KubeObject][] {
  const { kind } = newerApi();
  return [
    [`a ${kind}`, newerObject('valid')],
    [`a misspelt ${kind}`, newerObject('misspelt', { misspelt: {} })],
    ['a Job', job('valid', {})],
    ['a misspelt Job', job('misspelt', { backofLimit: 3 })],
    ['a ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'valid' }, data: { a: 'b' } }],
    ['a misspelt ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'misspelt' }, dta: { a: 'b' } }],
  ];
}

function job(name: string, more: object): KubeObject {
  const containers = [{ name: 'main', image: 'example.test/nothing' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { spec: { containers, restartPolicy: 'Never' } }, ...more },
  };
}

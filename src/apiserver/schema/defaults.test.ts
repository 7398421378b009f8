import { describe, expect, it } from 'vitest';
import { loadSurface } from '../surfaces/load-surface.js';
import { withDefaults } from './defaults.js';
import { GADGET } from './gadget.fixture.js';
import { goDecodeProblem } from './go-decode.js';

const surface = await loadSurface('1.36');
const pod = surface.kind('', 'v1', 'Pod')!.schema;
const deployment = surface.kind('apps', 'v1', 'Deployment')!.schema;
const configMap = surface.kind('', 'v1', 'ConfigMap')!.schema;

describe('withDefaults', () => {
  it('sets the defaults of a custom resource, also inside of values that are defaults', () => {
    const spec = { must: 'a', nul: null, nulldef: null, int: null, parts: [{ id: '1' }] };
    expect(withDefaults({ spec }, GADGET, 'custom')).toEqual({
      spec: { must: 'a', nul: null, nulldef: 'd', obj: { a: 3 }, parts: [{ id: '1', z: 'here' }] },
    });
  });

  it('does not create the parent of a field with a default', () => {
    expect(withDefaults({}, GADGET, 'custom')).toEqual({});
  });

  it('copies the default for every object', () => {
    const first = withDefaults({ spec: {} }, GADGET, 'custom') as { spec: { obj: object } };
    const second = withDefaults({ spec: {} }, GADGET, 'custom') as { spec: { obj: object } };
    expect(first.spec.obj).not.toBe(second.spec.obj);
  });

  it('sets the OpenAPI defaults of built-in kinds, except zero values', () => {
    const object = { spec: { containers: [{ name: 'a', ports: [{ containerPort: 1 }] }] } };
    expect(withDefaults(object, pod, 'built-in')).toEqual({
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 1, protocol: 'TCP' }] }] },
    });
  });
});

describe('goDecodeProblem', () => {
  // From a kube-apiserver 1.36.4, after `Pod in version "v1" cannot be handled as a Pod: `.
  it('returns struct, path and type in the message as kube-apiserver does', () => {
    expect(goDecodeProblem({ spec: { containers: [{ ports: [{ containerPort: 'x' }] }] } }, pod)).toBe(
      'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    );
    expect(goDecodeProblem({ spec: { containers: { a: 1 } } }, pod)).toBe(
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    );
    expect(goDecodeProblem({ spec: { replicas: '1', paused: 1 } }, deployment)).toBe(
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    expect(goDecodeProblem({ data: { a: 1 } }, configMap)).toBe(
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
    expect(goDecodeProblem({ data: 1 }, configMap)).toBe(
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    );
  });

  it('accepts quantities as numbers, both forms of int-or-string, nulls and unknown fields', () => {
    const object = {
      metadata: { labels: null },
      spec: {
        containers: [{ resources: { limits: { cpu: 1 } }, livenessProbe: { httpGet: { port: 80 } } }, { odd: 1 }],
        volumes: null,
      },
    };
    expect(goDecodeProblem(object, pod)).toBeUndefined();
  });
});

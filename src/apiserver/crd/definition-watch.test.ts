import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { DEFINITIONS, DefinitionWatch } from './definition-watch.js';

const CONDITION = { status: 'True', reason: '', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };

function definition(plural: string, more: { spec?: JsonObject; conditions?: string[]; uid?: string } = {}): JsonObject {
  const names = { plural, singular: plural.slice(0, -1), kind: plural, listKind: `${plural}List`, shortNames: ['x'] };
  return {
    metadata: { name: `${plural}.example.com`, uid: more.uid ?? plural, generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          additionalPrinterColumns: [{ name: 'Odd', type: 'string', jsonPath: '.spec[' }],
        },
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
          subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
          selectableFields: [{ jsonPath: '.spec.n' }],
        },
        { name: 'v2', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
      ...more.spec,
    },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: (more.conditions ?? ['Established']).map((type) => ({ type, ...CONDITION })),
    },
  };
}

function watching(...definitions: JsonObject[]) {
  const objects = new FakeObjects();
  for (const each of definitions) objects.put(DEFINITIONS, each);
  const defects: string[] = [];
  const clock = new ManualClock();
  const watch = new DefinitionWatch({
    objects,
    objectMeta: { type: 'object', typeName: 'ObjectMeta' },
    outbound: { call: () => Promise.reject(new Error('nobody is called')) },
    resolveService: () => ({ address: '', serverName: '' }),
    nowMs: () => clock.nowMs(),
    onDefect: (name) => defects.push(name),
  });
  return { objects, watch, defects, clock };
}

describe('DefinitionWatch', () => {
  it('remembers for a minute that a deleted definition was served', async () => {
    const { watch, objects, clock } = watching(definition('widgets'));
    expect([watch.isOrWasServed('widgets.example.com'), watch.isOrWasServed('gadgets.example.com')]).toEqual([
      true,
      false,
    ]);
    objects.remove(DEFINITIONS, '', 'widgets.example.com');
    expect(watch.isOrWasServed('widgets.example.com')).toBe(true);
    await clock.advance(60_000);
    expect(watch.isOrWasServed('widgets.example.com')).toBe(false);
  });

  it('makes a type for each served version', () => {
    const [old, current, ...others] = watching(definition('widgets')).watch.types();
    expect(others).toEqual([]);
    expect(old).toMatchObject({
      version: 'v1beta1',
      deprecationWarning: 'example.com/v1beta1 widgets is deprecated; use example.com/v1 widgets',
      storage: { prefix: '/registry/example.com/widgets/', apiVersion: 'example.com/v1' },
    });
    expect(current).toMatchObject({ resource: 'widgets', singular: 'widget', namespaced: true, shortNames: ['x'] });
    expect([...current!.subresources.keys()]).toEqual(['status', 'scale']);
    expect(current!.subresources.get('scale')!.scalePaths).toEqual({
      specReplicas: 'spec.n',
      statusReplicas: 'status.n',
      labelSelector: undefined,
    });
    expect(current!.printer.columns.map(({ name }) => name)).toEqual(['Name', 'N']);
    expect(old!.printer.columns.map(({ name }) => name)).toEqual(['Name', 'Age']);
    expect(current!.selectable.translate('spec.n')).toBe('spec.n');
  });

  it('does not serve a definition that is not established', () => {
    expect(watching(definition('widgets', { conditions: ['NamesAccepted'] })).watch.types()).toEqual([]);
  });

  it('keeps the types of definitions that did not change', () => {
    const { objects, watch } = watching(definition('widgets'), definition('gadgets'));
    const before = watch.types();
    objects.put(DEFINITIONS, {
      ...definition('widgets'),
      metadata: { name: 'widgets.example.com', uid: 'widgets', labels: {} },
    });
    expect(watch.types()).toBe(before);
    objects.put(DEFINITIONS, definition('widgets', { spec: { scope: 'Cluster' } }));
    const after = watch.types();
    const of = (types: typeof before, resource: string) => types.filter((each) => each.resource === resource);
    expect(of(after, 'gadgets')).toEqual(of(before, 'gadgets'));
    expect(of(after, 'gadgets')[0]).toBe(of(before, 'gadgets')[0]);
    expect(of(after, 'widgets')[0]!.namespaced).toBe(false);
  });

  it('makes new types for a definition that was deleted and created again', () => {
    const { objects, watch } = watching(definition('widgets'));
    const [before] = watch.types();
    objects.put(DEFINITIONS, definition('widgets', { uid: 'another' }));
    expect(watch.types()[0]).not.toBe(before);
  });

  it('serves a definition that is being deleted, except for creates', () => {
    const { watch, objects } = watching(definition('widgets', { conditions: ['Established', 'Terminating'] }));
    const [type] = watch.types();
    const context = { now: '', objects };
    expect(type!.verbs).toContain('patch');
    expect(() => type!.strategy.prepareForCreate({ metadata: { name: 'a' } }, context)).toThrow(
      'widgets.example.com "a" is forbidden: create not allowed while custom resource definition is terminating',
    );
    expect(type!.strategy.prepareForUpdate({ a: 1 }, {}, context)).toEqual({ a: 1 });
  });

  it('reports a definition that it cannot serve, and serves the others', () => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 500; level++) schema = { type: 'object', properties: { a: schema } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const { watch, defects } = watching(definition('widgets'), definition('gadgets', { spec: { versions } }));
    expect(watch.types().map(({ resource }) => resource)).toEqual(['widgets', 'widgets']);
    expect(defects).toEqual(['gadgets.example.com']);
  });

  it('calls its listeners until it is closed', () => {
    const { objects, watch } = watching(definition('widgets'));
    let count = 0;
    watch.onChange(() => count++);
    objects.put(DEFINITIONS, definition('gadgets'));
    watch.close();
    objects.put(DEFINITIONS, definition('gears'));
    expect(count).toBe(1);
  });

  it('provides the schema of a type with its selectable fields', () => {
    const { watch } = watching(definition('widgets'));
    const type = watch.types()[1]!;
    expect(watch.openApiSchema(type)).toMatchObject({ 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.n' }] });
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { customResourceSchema } from '../schema/custom-resource-schema.js';
import { invalid } from '../schema/field-problems.js';
import { customResourceStrategy } from './custom-resource-strategy.js';
import type { RuleProblems } from './default-rules.js';
import { definitionStrategy } from './definition-strategy.js';
import { setDefinitionDefaults } from './set-definition-defaults.js';
import type { DefinitionOptions } from './validate-definition.js';

const OPEN_API: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'integer', maximum: 5 }, b: { type: 'object', default: {}, properties: {} } },
      'x-kubernetes-validations': [{ rule: 'self.a < 3' }],
    },
  },
};

function definition(openAPIV3Schema: JsonObject): JsonObject {
  return setDefinitionDefaults({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
}

const anytime = { now: '', objects: new FakeObjects() };

function validateDefinition(crd: JsonObject, options: DefinitionOptions) {
  return definitionStrategy(options).validateCreate(crd, anytime);
}

describe('the CEL rules of a CustomResourceDefinition', () => {
  const compileRules = () => [invalid('properties[spec].x-kubernetes-validations[0].rule', 'self.a < 3', 'no good')];

  it('are reported with the path of their schema if they do not compile', () => {
    expect(validateDefinition(definition(OPEN_API), { compileRules })).toEqual([
      invalid(
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
        'self.a < 3',
        'no good',
      ),
    ]);
  });

  it('are not compiled for a schema with other problems', () => {
    const problems = validateDefinition(definition({ ...OPEN_API, type: 'string' }), { compileRules });
    expect(problems.map(({ field }) => field)).toEqual(['spec.validation.openAPIV3Schema.type']);
  });

  it('are not compiled again in an update that does not change the schema', () => {
    const crd = definition(OPEN_API);
    const { validateUpdate } = definitionStrategy({ compileRules });
    expect(validateUpdate(crd, definition(OPEN_API), anytime)).toEqual([]);
  });

  it('are evaluated for the defaults of the schema', () => {
    const ruleProblems: RuleProblems = (value) => [invalid('<nil>', Object.keys(value).length, 'broken')];
    expect(validateDefinition(definition(OPEN_API), { ruleProblems })).toEqual([
      invalid('spec.validation.openAPIV3Schema.properties[spec].properties[b].default', 0, 'broken'),
    ]);
  });
});

describe('the CEL rules of a custom resource', () => {
  const context = { now: '', objects: new FakeObjects() };
  const asked: (JsonObject | undefined)[] = [];
  const strategy = customResourceStrategy({
    schema: customResourceSchema(OPEN_API, { typeName: 'ObjectMeta' }),
    hasStatus: false,
    scalePaths: undefined,
    qualifiedResource: 'widgets.example.com',
    isTerminating: false,
    *ruleProblems(_, live) {
      asked.push(live);
      yield;
      return [invalid('spec', 'object', 'failed rule: self.a < 3')];
    },
  });

  it('are evaluated beside problems that do not block them', () => {
    const fields = strategy.validateCreate({ spec: { a: 9 } }, context).map(({ field }) => field);
    expect(fields).toEqual(['spec.a', 'spec']);
  });

  it('are not evaluated for an object that does not fit its schema, which is reported', () => {
    expect(strategy.validateCreate({ spec: {} }, context)).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      {
        reason: 'FieldValueInvalid',
        message:
          'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
        field: '<nil>',
      },
    ]);
  });

  it('see the object before an update', () => {
    const live = { spec: { a: 1 } };
    strategy.validateUpdate({ spec: { a: 2 } }, live, context);
    expect(asked.at(-1)).toBe(live);
  });
});

describe('finalizers of a custom resource', () => {
  const strategy = customResourceStrategy({
    schema: {},
    hasStatus: true,
    scalePaths: undefined,
    qualifiedResource: 'widgets.example.com',
    isTerminating: false,
  });

  it('cause warnings if they are new and not qualified', () => {
    const object = { metadata: { finalizers: ['plain', 'a.test', 'a.test/b', 'orphan'] } };
    const end = 'to avoid accidental conflicts with other finalizer writers';
    expect(strategy.warnings!(object, { metadata: { finalizers: ['a.test'] } })).toEqual([
      `metadata.finalizers: "plain": prefer a domain-qualified finalizer name ${end}`,
    ]);
    expect(strategy.warnings!(object, undefined)).toHaveLength(2);
  });
});

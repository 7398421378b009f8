import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import type { JsonObject } from '../../kube/json.js';
import { customResourceSchema } from '../schema/custom-resource-schema.js';
import type { FieldProblem } from '../schema/field-problems.js';
import { ANY, type Schema } from '../schema/schema.js';
import { compileRuleSteps } from './definition-rules.js';
import { ruleProblems } from './validate-rules.js';

interface Recorded {
  readonly valueSchema: JsonObject;
  readonly valueObject: JsonObject;
  readonly definitions: readonly { name: string; schema: JsonObject; causes: readonly FieldProblem[] }[];
  readonly objects: readonly {
    hasBefore: boolean;
    name: string;
    schema: JsonObject;
    steps: readonly { object: JsonObject; isNew: boolean; status: number; causes: readonly FieldProblem[] }[];
  }[];
  /** The longest list that each rule does not cost too much for; nothing longer than the last was tried. */
  readonly costs: readonly (readonly [rule: string, lengthMax: number])[];
  readonly values: readonly (readonly [expression: string, shown: string | null | readonly FieldProblem[]])[];
}

const recorded = JSON.parse(readFileSync(new URL('./rules.recorded.json', import.meta.url), 'utf8')) as Recorded;
const ROOT = 'spec.validation.openAPIV3Schema';

function problemsOf(schema: JsonObject): FieldProblem[] {
  return runAtOnce(compileRuleSteps(customResourceSchema(schema, ANY))).map(({ reason, message, field }) => ({
    reason,
    message,
    field: field === '' ? ROOT : `${ROOT}.${field}`,
  }));
}

/** The real one numbers the types of `self`. */
function withoutNumbers(causes: readonly FieldProblem[]): FieldProblem[] {
  return causes.map(({ reason, message, field }) => ({
    reason,
    message: message.replace(/selfType\d+/g, 'selfType'),
    field,
  }));
}

/** Maps have no order there. */
function inOrder(causes: readonly FieldProblem[]): FieldProblem[] {
  return [...causes].sort((left, right) => (left.field < right.field ? -1 : left.field > right.field ? 1 : 0));
}

describe('CEL rules of a schema', () => {
  it.each(recorded.definitions.map((each) => [each.name, each] as const))(
    'have the compile errors recorded from kube-apiserver: %s',
    (_, each) => {
      expect(problemsOf(each.schema)).toEqual(withoutNumbers(each.causes));
    },
  );
});

describe('CEL rules of a custom resource', () => {
  it.each(recorded.objects.map((each) => [each.name, each] as const))(
    'have the violations recorded from kube-apiserver: %s',
    (_, { hasBefore, schema: openApi, steps }) => {
      const schema = customResourceSchema(openApi, ANY);
      let live: JsonObject | undefined;
      for (const [place, { object, isNew, status, causes }] of steps.entries()) {
        const whole = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'thing' }, ...object };
        expect(live === undefined).toBe(isNew);
        // The first of some was written when there were no rules yet.
        if (place > 0 || !hasBefore) expect(inOrder(ruleProblems(whole, live, schema))).toEqual(inOrder(causes));
        if (status !== 422) live = whole;
      }
    },
  );
});

function valueSchema(expression: string): JsonObject {
  const rule = `size([dyn(${expression})]) == 2`;
  const rules = [{ rule, message: '#0', messageExpression: `'#0 %s'.format([${expression}])` }];
  return {
    type: 'object',
    properties: { spec: { ...recorded.valueSchema, 'x-kubernetes-validations': rules } },
  };
}

describe('CEL expressions', () => {
  it.each(recorded.values)('have the value recorded from kube-apiserver: %s', (expression, shown) => {
    const schema = valueSchema(expression);
    if (Array.isArray(shown)) {
      expect(problemsOf(schema)).toEqual(withoutNumbers(shown as FieldProblem[]));
      return;
    }
    expect(problemsOf(schema)).toEqual([]);
    const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing' }, spec: recorded.valueObject };
    const [problem] = ruleProblems(object, undefined, customResourceSchema(schema, ANY));
    expect(problem?.message.replace(/#\d+ ?/, '#')).toBe(shown);
  });
});

describe('costs of CEL rules', () => {
  const lengthMax = Math.max(...recorded.costs.map(([, length]) => length));

  function isTooExpensive(rule: string, length: number): boolean {
    const schema: Schema = { type: 'array', items: { type: 'integer' }, rules: [{ rule }] };
    const object = { spec: Array.from({ length }, () => 1) };
    const problems = ruleProblems(object, undefined, { type: 'object', properties: { spec: schema } });
    return problems.some(({ message }) => message.includes('cost limit exceeded'));
  }

  it.each(recorded.costs)('exceed the limit at the list length recorded from kube-apiserver: %s', (rule, length) => {
    expect(isTooExpensive(rule, length)).toBe(false);
    if (length < lengthMax) expect(isTooExpensive(rule, length + 1)).toBe(true);
  });
});

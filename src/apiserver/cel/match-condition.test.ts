import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { CelCompileError } from './compile-error.js';
import { compileMatchCondition, conditionsBudget, type MatchInput, matchConditionProblem } from './match-condition.js';

const INPUT: MatchInput = {
  object: { metadata: { name: 'a', labels: { app: 'web' } }, spec: { replicas: 3 } },
  oldObject: undefined,
  request: {
    operation: 'CREATE',
    kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    name: 'a',
    namespace: 'default',
    userInfo: { username: 'system:node:n1', groups: ['system:nodes'], extra: { 'a/b': ['c'] } },
    dryRun: false,
  },
};

function answer(expression: string, input: MatchInput = INPUT): unknown {
  return compileMatchCondition(expression).evaluate(input);
}

describe('a match condition of a webhook', () => {
  it.each([
    ['true', true],
    ["request.operation == 'CREATE' && oldObject == null", true],
    ["request.resource.resource == 'deployments' && request.kind.group == 'apps'", true],
    ["'system:nodes' in request.userInfo.groups", true],
    ["!('system:nodes' in request.userInfo.groups)", false],
    ["request.userInfo.extra['a/b'].exists(v, v == 'c')", true],
    ["!request.userInfo.username.startsWith('system:node:')", false],
    ["has(object.metadata.labels) && object.metadata.labels['app'] == 'web'", true],
    ['object.spec.replicas > 2', true],
    ['object.spec.replicas > 2.5', true],
    ["!has(request.subResource) || request.subResource != 'status'", true],
    ["!has(object.metadata.annotations) || !('skip' in object.metadata.annotations)", true],
    ["object.?metadata.?annotations[?'skip'].orValue('no') == 'no'", true],
  ])('%s is %s', (expression, matches) => {
    expect(answer(expression)).toEqual({ matches });
  });

  it('returns the reason of an evaluation error', () => {
    expect(answer('object.spec.nope > 1')).toEqual({
      error: "expression 'object.spec.nope > 1' resulted in error: no such key: nope",
    });
    expect(answer("object.metadata.name == 'a'", { ...INPUT, object: undefined })).toEqual({
      error: "expression 'object.metadata.name == 'a'' resulted in error: no such key: metadata",
    });
  });

  it('is ended by the budget that all conditions of a webhook share', () => {
    const condition = compileMatchCondition('object.list.all(a, object.list.all(b, a <= b || a > b))');
    const list = Array.from({ length: 400 }, (_, index) => index);
    const input = { ...INPUT, object: { list } as JsonObject };
    expect(condition.evaluate(input)).toEqual({ matches: true });
    const budget = conditionsBudget();
    const answers = [condition, condition, condition].map((each) => each.evaluate(input, budget));
    expect(answers[0]).toEqual({ matches: true });
    expect(answers[2]).toHaveProperty('error', expect.stringContaining('running out of cost budget'));
  });

  it('is refused if it does not compile or is not a bool', () => {
    expect(() => compileMatchCondition('request.nope')).toThrow(CelCompileError);
    expect(matchConditionProblem('true')).toBeUndefined();
    expect(matchConditionProblem('request.nope == 1')).toBe(
      "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == 1\n | .......^",
    );
    expect(matchConditionProblem("'a'")).toBe('must evaluate to bool but got string');
    expect(matchConditionProblem('self.a')).toContain("undeclared reference to 'self'");
  });
});

import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import type { Json, JsonObject } from '../../kube/json.js';
import type { Schema, SchemaRule } from '../schema/schema.js';
import { compile } from './cel-program.js';
import * as t from './cel-types.js';
import { CelCompileError } from './compile-error.js';
import { compileRuleSteps } from './definition-rules.js';
import { CelBudgetExceeded, CelFailure } from './failure.js';
import { typedValue } from './json-values.js';
import { celTypeOf } from './schema-type.js';
import { ruleProblems } from './validate-rules.js';
import type { Value } from './values.js';

/** Far more than any of these takes, far less than one that runs away. */
const QUICK_MS = 2_000;

/** Time this process computed: what others do on the machine does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const NOTHING: ReadonlyMap<string, t.CelType> = new Map();

function outcome(source: string, variables = NOTHING, values: readonly Value[] = []): unknown {
  const start = cpuMs();
  let result: unknown;
  try {
    result = compile(source, variables).run(values);
  } catch (error) {
    result = error;
  }
  expect(cpuMs() - start).toBeLessThan(QUICK_MS);
  return result;
}

const LIST = t.listOf(t.INT);
const LONG = typedValue(
  Array.from({ length: 20_000 }, (_, index): Json => index),
  LIST,
);

describe('hostile CEL expressions are refused', () => {
  it.each([
    ['too long', 'a'.repeat(65_536)],
    ['deep brackets', `${'('.repeat(20_000)}1${')'.repeat(20_000)}`],
    ['deep lists', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['a long sum', Array(15_000).fill('1').join('+')],
    ['a long chain of members', `x${'.a'.repeat(15_000)}`],
    ['nested sums', `${'('.repeat(200)}1${`${'+1'.repeat(100)})`.repeat(200)}`],
    ['nested ternaries', `${'true?1:('.repeat(5_000)}1${')'.repeat(5_000)}`],
    ['a huge repetition', "'a'.matches('((a{1000}){1000}){1000}')"],
    ['a huge pattern', `'a'.matches('${'(a|b)*'.repeat(5_000)}')`],
  ])('%s', (_, source) => {
    expect(outcome(source, new Map([['x', t.DYN]]), [null])).toBeInstanceOf(CelCompileError);
  });
});

describe('long but harmless CEL expressions are accepted', () => {
  it.each([
    ['a long conjunction', Array(8_000).fill('true').join('&&'), true],
    ['many comparisons', Array(4_000).fill('1==1').join('&&'), true],
    ['many negations', `${'!'.repeat(60_000)}true`, true],
    ['a long list', `[${Array(10_000).fill('1').join(',')}].size()`, 10_000],
  ])('%s', (_, source, expected) => {
    expect(outcome(source)).toBe(expected);
  });
});

describe('hostile CEL evaluations are ended by their budget', () => {
  it.each([
    ['nested loops', 'l.all(a, l.all(b, l.all(c, a + b + c >= 0)))'],
    ['loops that keep nothing', 'l.filter(a, l.filter(b, false).size() > 0).size() == 0'],
    ['nested maps', 'l.map(a, l.map(b, l)).size() > 0'],
    ['a loop in which every turn fails', 'l.exists(a, l.exists(b, 1 / 0 > a))'],
    ['comparing doubled lists', `[1]${'.map(a, [a, a])'.repeat(60)} == [1]${'.map(a, [a, a])'.repeat(60)}`],
    ['looking for a doubled list', `[1]${'.map(a, [a, a])'.repeat(60)} in [[1]${'.map(a, [a, a])'.repeat(60)}]`],
    ['showing doubled lists', `'%s'.format([[1]${'.map(a, [a, a])'.repeat(60)}])`],
    ['flattening lists of lists', 'l.map(a, l).flatten().size() > 0'],
    ['a huge range', 'lists.range(9223372036854775807).size() > 0'],
    ['a long text', `'${'a'.repeat(5_000)}'${".replace('', 'aaaaaaaaaaaaaaaa')".repeat(5)}.size() > 0`],
    ['a long text by join', `l.map(a, '${'a'.repeat(5_000)}').join('').size() > 0`],
    ['distinct of a long list', 'l.distinct().size() > 0'],
    ['comparing a long list in a loop', 'l.all(a, l.map(b, b) == l)'],
    ['membership in a loop', 'l.all(a, (0 - a - 1) in l || true)'],
    ['sorting in a loop', 'l.all(a, l.sort().size() > 0)'],
    ['a pattern in a loop', `l.all(a, '${'a'.repeat(3_000)}'.matches('(a+)+$') || true)`],
  ])('%s', (_, source) => {
    expect(outcome(source, new Map([['l', LIST]]), [LONG])).toBeInstanceOf(CelBudgetExceeded);
  });

  it('does not stop matches of patterns that cause backtracking in other engines', () => {
    expect(outcome(`'${'a'.repeat(5_000)}!'.matches('^(a+)+$')`)).toBe(false);
    expect(outcome(`'${'a'.repeat(5_000)}'.matches('(a|aa)+$')`)).toBe(true);
  });

  it('is reported even if an operator would hide the failure', () => {
    const source = 'l.all(a, l.all(b, l.all(c, true))) || true';
    expect(outcome(source, new Map([['l', LIST]]), [LONG])).toBeInstanceOf(CelBudgetExceeded);
  });
});

describe('hostile objects in CEL rules', () => {
  const rules: SchemaRule[] = [{ rule: 'self.all(k, self[k].size() >= 0)' }];
  const map: Schema = { type: 'object', values: { type: 'string' }, rules };

  it('may have members named __proto__, constructor and toString', () => {
    const spec = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}') as JsonObject;
    expect(ruleProblems({ spec }, undefined, { type: 'object', properties: { spec: map } })).toEqual([]);
    const type = celTypeOf({ type: 'object', properties: { a: { type: 'string' } } })!;
    const self = typedValue({}, type);
    expect(outcome("has(self.a) || 'constructor' == ''", new Map([['self', type]]), [self])).toBe(false);
    const asMap = new Map([['self', celTypeOf(map)!]]);
    expect(outcome("'constructor' in self || 'toString' in self", asMap, [typedValue({}, celTypeOf(map)!)])).toBe(
      false,
    );
  });

  it('cannot exceed the budget of one object for all its rules', () => {
    const items: Schema = { type: 'object', properties: {}, rules: [{ rule: 'lists.range(9000).all(x, x >= 0)' }] };
    const schema: Schema = { type: 'object', properties: { spec: { type: 'array', items } } };
    const start = cpuMs();
    const problems = ruleProblems({ spec: Array.from({ length: 100_000 }, () => ({})) }, undefined, schema);
    expect(cpuMs() - start).toBeLessThan(QUICK_MS);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toContain('running out of cost budget');
  });

  it('cause a CelFailure if a value does not fit its schema', () => {
    const type = celTypeOf({ type: 'object', properties: { t: { type: 'string', format: 'date-time' } } })!;
    const variables = new Map([['self', type]]);
    expect(outcome('self.t.getHours() == 1', variables, [typedValue({ t: 'never' }, type)])).toBeInstanceOf(CelFailure);
    expect(outcome('self.t.getHours() == 1', variables, [typedValue({ t: [] }, type)])).toBeInstanceOf(CelFailure);
  });
});

describe('hostile schemas with CEL rules', () => {
  it('with rules in 500 properties are compiled quickly', () => {
    const rule = { rule: 'self.all(k, self[k].size() >= 0)' };
    const inner: Schema = {
      type: 'object',
      values: { type: 'string', limits: { maxLength: 5 } },
      limits: { maxProperties: 5 },
      rules: [rule, rule],
    };
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, inner]));
    const start = cpuMs();
    expect(runAtOnce(compileRuleSteps({ type: 'object', properties }))).toEqual([]);
    expect(cpuMs() - start).toBeLessThan(QUICK_MS);
  });
});

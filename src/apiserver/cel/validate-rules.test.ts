import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { hasRules, ruleProblems } from './validate-rules.js';

const ITEM: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'integer', rules: [{ rule: 'self > 0' }] } },
};
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', rules: [{ rule: 'self > 0', message: 'must be positive' }] },
        items: { type: 'array', items: ITEM, listType: 'map', listKeys: ['name'] },
        loose: { type: 'array', items: ITEM },
      },
    },
  },
};

function check(spec: JsonObject, before?: JsonObject): { problems: string[]; warnings: string[] } {
  const warnings: string[] = [];
  const live = before === undefined ? undefined : { spec: before };
  const problems = ruleProblems({ spec }, live, SCHEMA, { warn: (text) => warnings.push(text) });
  return { problems: problems.map(({ field }) => field), warnings };
}

describe('a violated CEL rule', () => {
  it('is a problem in a new object', () => {
    expect(check({ size: 0 })).toEqual({ problems: ['spec.size'], warnings: [] });
  });

  it('is only a warning if an update does not change the value', () => {
    expect(check({ size: 0 }, { size: 0 })).toEqual({
      problems: [],
      warnings: ['spec.size: Invalid value: 0: must be positive'],
    });
    expect(check({ size: -1 }, { size: 0 }).problems).toEqual(['spec.size']);
  });

  it('is compared with the old list item of the same key', () => {
    const before = {
      items: [
        { name: 'a', size: 0 },
        { name: 'b', size: -1 },
      ],
    };
    expect(
      check(
        {
          items: [
            { name: 'b', size: -1 },
            { name: 'a', size: 0 },
          ],
        },
        before,
      ).problems,
    ).toEqual([]);
    expect(
      check(
        {
          items: [
            { name: 'b', size: 0 },
            { name: 'a', size: 0 },
          ],
        },
        before,
      ).problems,
    ).toEqual(['spec.items[0].size']);
    expect(check({ items: [{ name: 'c', size: 0 }] }, before).problems).toEqual(['spec.items[0].size']);
  });

  it('is a problem in a list without keys after any change of the list', () => {
    const before = { loose: [{ name: 'a', size: 0 }] };
    expect(check({ loose: [{ name: 'a', size: 0 }] }, before).problems).toEqual([]);
    expect(
      check(
        {
          loose: [
            { name: 'a', size: 0 },
            { name: 'b', size: 1 },
          ],
        },
        before,
      ).problems,
    ).toEqual(['spec.loose[0].size']);
  });
});

describe('ruleProblems', () => {
  it('is skipped for a schema without rules', () => {
    expect(hasRules({ type: 'object', properties: { a: { type: 'string' } } })).toBe(false);
    expect(hasRules(SCHEMA)).toBe(true);
  });

  it('accepts a schema that contains itself', () => {
    const looped: { type: 'object'; properties: Record<string, Schema> } = { type: 'object', properties: {} };
    looped.properties['self'] = looped;
    expect(hasRules(looped)).toBe(false);
    expect(ruleProblems({ self: { self: {} } }, undefined, looped)).toEqual([]);
  });

  it('reports a rule that does not compile for every object', () => {
    const schema: Schema = { type: 'object', properties: { a: { type: 'string', rules: [{ rule: 'self.b' }] } } };
    const [problem] = ruleProblems({ a: 'x' }, undefined, schema);
    expect(problem!.message).toContain('rule compile error: compilation failed: ERROR: <input>:1:5');
  });
});

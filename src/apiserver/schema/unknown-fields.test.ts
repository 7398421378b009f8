import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { duplicateFields, namesEachOnce } from './duplicate-fields.js';
import { GADGET } from './gadget.fixture.js';
import { pruneUnknownFields, unknownFieldMessage } from './unknown-fields.js';

const surface = await loadSurface('1.36');
const pod = surface.kind('', 'v1', 'Pod')!.schema;

describe('pruneUnknownFields', () => {
  it('prunes unknown fields, and reports them in the order of the document', () => {
    const text =
      '{"metadata":{"name":"x","foo":1},"spec":{"containers":[{"name":"a","bar":2,"ports":[{"containerPort":1,"q":1}]}]},"zz":1}';
    const { object, unknownFields } = pruneUnknownFields(JSON.parse(text), pod);
    expect(object).toEqual({
      metadata: { name: 'x' },
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 1 }] }] },
    });
    expect(unknownFields).toEqual(['metadata.foo', 'spec.containers[0].bar', 'spec.containers[0].ports[0].q', 'zz']);
    expect(unknownFieldMessage(unknownFields[0]!)).toBe('unknown field "metadata.foo"');
  });

  it('returns the same object if it has only maps, free-form values and known fields', () => {
    const object = { metadata: { name: 'x', labels: { any: 'x' } }, spec: { nodeSelector: { a: 'b' } } };
    const pruned = pruneUnknownFields(object, pod);
    expect(pruned.unknownFields).toEqual([]);
    expect(pruned.object).toBe(object);
  });

  it('keeps preserved fields and embedded objects of a custom resource', () => {
    const spec = {
      must: 'a',
      any: { x: { y: 1 } },
      inner: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, odd: 1 },
    };
    const { object, unknownFields } = pruneUnknownFields({ spec, toString: 1 } as never, GADGET);
    expect(unknownFields).toEqual(['spec.inner.odd', 'toString']);
    expect(object).toEqual({ spec: { ...spec, inner: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' } } } });
  });

  it('reports no more than 100 unknown fields', () => {
    const odd = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`odd${index}`, 1]));
    expect(pruneUnknownFields(odd, pod)).toMatchObject({ object: {}, unknownFields: { length: 100 } });
  });
});

describe('duplicateFields', () => {
  it.each<[string, string[]]>([
    ['{"a":1,"b":{"a":1,"a":2},"a":3}', ['b.a', 'a']],
    ['{"l":[{"x":1},{"x":1,"x":2}],"l2":["x","x",{"y":[{"z":1,"z":2}]}]}', ['l[1].x', 'l2[2].y[0].z']],
    ['{"a":"a\\":{\\"a","b":"\\\\","a\\u0062":1,"ab":2}', ['ab']],
    ['[]', []],
    ['"text"', []],
  ])('finds in %s: %j', (text, expected) => {
    expect(duplicateFields(text)).toEqual(expected);
  });

  it('is empty exactly if namesEachOnce is true (property)', () => {
    // No name is a lone backslash: once V8 of Node.js 24 and 26 has parsed one, it takes an escape at the same place for it.
    const name = fc.constantFrom('"a"', '"b"', '"a\\""', '"b\\\\"', '"\\u0061"', '"a:"', '"__proto__"');
    const { text } = fc.letrec<{ text: string; object: string; list: string }>((tie) => ({
      text: fc.oneof({ maxDepth: 4 }, name, fc.constant('1'), tie('object'), tie('list')),
      object: fc
        .array(fc.tuple(name, fc.constantFrom(':', ' : ', '\n:\t'), tie('text')), { maxLength: 4 })
        .map((members) => `{${members.map((each) => each.join('')).join(',')}}`),
      list: fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
    }));
    fc.assert(
      fc.property(text, (each) => {
        // A member whose value was dropped takes the names within it along: then there are fewer members, too.
        expect(namesEachOnce(each, JSON.parse(each) as Json)).toBe(duplicateFields(each).length === 0);
      }),
    );
  });

  it('accepts 100,000 levels', () => {
    expect(duplicateFields('['.repeat(100_000) + ']'.repeat(100_000))).toEqual([]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldSet } from './field-set.js';
import { formatPath } from './path-element.js';

const A = FieldSet.of(['f:a'], ['f:a', 'f:b'], ['f:c', 'k:{"name":"x"}'], ['f:c', 'k:{"name":"x"}', 'f:d']);

describe('FieldSet', () => {
  it('is encoded as fieldsV1, with a dot for a path that has paths below it', () => {
    expect(JSON.stringify(A.toJson())).toBe(
      '{"f:a":{".":{},"f:b":{}},"f:c":{"k:{\\"name\\":\\"x\\"}":{".":{},"f:d":{}}}}',
    );
    expect(FieldSet.fromJson(A.toJson()).toJson()).toEqual(A.toJson());
  });

  it('orders fields before keys before values before indices', () => {
    const set = FieldSet.of(['i:0'], ['v:1'], ['k:{}'], ['f:z'], ['f:a']);
    expect(Object.keys(set.toJson())).toEqual(['f:a', 'f:z', 'k:{}', 'v:1', 'i:0']);
  });

  it('subtracts path by path, or with all paths below', () => {
    expect(A.difference(FieldSet.of(['f:a'])).toJson()).toMatchObject({ 'f:a': { 'f:b': {} } });
    expect(A.withoutBelow(FieldSet.of(['f:a'])).toJson()).toEqual({
      'f:c': { 'k:{"name":"x"}': { '.': {}, 'f:d': {} } },
    });
  });

  it('throws for JSON that is not fieldsV1', () => {
    expect(() => FieldSet.fromJson({ 'x:a': {} })).toThrow('unknown path element');
    expect(() => FieldSet.fromJson([])).toThrow('must be an object');
    expect(() => FieldSet.fromJson({ 'f:a': 1 })).toThrow('must hold objects');
  });

  it('satisfies the laws of sets (property)', () => {
    const path = fc.array(fc.constantFrom('f:a', 'f:b', 'v:1'), { minLength: 1, maxLength: 3 });
    const set = fc.array(path, { maxLength: 6 }).map((paths) => FieldSet.of(...paths));
    fc.assert(
      fc.property(set, set, (left, right) => {
        expect(left.union(right).difference(right).toJson()).toEqual(left.difference(right).toJson());
        expect(left.intersection(right).toJson()).toEqual(left.difference(left.difference(right)).toJson());
        expect(FieldSet.fromJson(left.toJson()).toJson()).toEqual(left.toJson());
        expect(FieldSet.of(...left.paths()).toJson()).toEqual(left.toJson());
      }),
    );
  });
});

describe('formatPath', () => {
  it('formats paths as in messages of kube-apiserver', () => {
    expect(formatPath(['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name'])).toBe(
      '.spec.ports[port=80,protocol="TCP"].name',
    );
    expect(formatPath(['f:metadata', 'f:finalizers', 'v:"a.b/c"'])).toBe('.metadata.finalizers[="a.b/c"]');
    expect(formatPath(['f:l', 'i:3'])).toBe('.l[3]');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACCEPT_CLAUSES_MAX, chooseMediaType, discoveryForms, parseAccept } from './accept.js';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2BETA1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

function best(field: string | undefined) {
  const form = discoveryForms(field)[0];
  return form && `${form.encoding} ${form.aggregated ?? 'legacy'}${form.profile ? ` ${form.profile}` : ''}`;
}

describe('parseAccept', () => {
  it('orders by q, then by how specific a range is, then as written', () => {
    const ranges = parseAccept('text/*;q=0.5, */*, text/a, text/b;level=1, text/c;q=0.9, text/d');
    expect(ranges.map((r) => `${r.type}/${r.subtype}`)).toEqual([
      'text/b',
      'text/a',
      'text/d',
      '*/*',
      'text/c',
      'text/*',
    ]);
  });

  it('omits ranges with q=0 and malformed ranges', () => {
    expect(parseAccept('a/b;q=0, nonsense, a/b/c, /x, x/, ;;, a/b;q=abc, a/c;q=-1')).toEqual([]);
  });

  it('reads * as */*', () => {
    expect(parseAccept('*')).toEqual([{ type: '*', subtype: '*', q: 1, params: new Map() }]);
  });

  it('reads parameters in any case, spacing and quoting', () => {
    const [range] = parseAccept('Application/JSON ; AS="Table" ; V = v1;Q=0.5');
    expect(range).toEqual({
      type: 'application',
      subtype: 'json',
      q: 0.5,
      params: new Map([
        ['as', 'Table'],
        ['v', 'v1'],
      ]),
    });
  });

  it('does a bounded amount of work on a hostile field', () => {
    expect(parseAccept('a/b,'.repeat(1_000_000)).length).toBeLessThanOrEqual(ACCEPT_CLAUSES_MAX);
    expect(parseAccept(`a/b${';x=1'.repeat(100_000)}`)).toEqual([]);
  });

  it('never throws, for any string', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (field) => Array.isArray(parseAccept(field))));
  });
});

describe('chooseMediaType', () => {
  it('returns the first offer without an Accept field, and undefined if no offer is accepted', () => {
    expect(chooseMediaType(undefined, ['a/b', 'a/c'])).toBe('a/b');
    expect(chooseMediaType('a/c;q=0.5,a/b;q=0.4', ['a/b', 'a/c'])).toBe('a/c');
    expect(chooseMediaType('x/y', ['a/b'])).toBeUndefined();
  });
});

describe('discoveryForms', () => {
  it('returns the legacy JSON form without an Accept field or with a wildcard', () => {
    expect(best(undefined)).toBe('json legacy');
    expect(best('*/*')).toBe('json legacy');
    expect(best('application/*')).toBe('json legacy');
  });

  it('returns the aggregated form that current and older kubectl accept', () => {
    expect(best(`${V2},${V2BETA1},application/json`)).toBe('json v2');
    expect(best(`${V2BETA1},application/json`)).toBe('json v2beta1');
  });

  it('compares q of aggregated versions and of the legacy form', () => {
    expect(best(`${V2};q=0.5,${V2BETA1};q=0.8`)).toBe('json v2beta1');
    expect(best(`${V2};q=0.5,application/json`)).toBe('json legacy');
  });

  it('prefers the aggregated form, which is more specific, if q is equal', () => {
    expect(best(`application/json,${V2}`)).toBe('json v2');
  });

  it('recognizes protobuf, CBOR and YAML', () => {
    const params = V2.slice(V2.indexOf(';'));
    expect(best(`application/vnd.kubernetes.protobuf${params}`)).toBe('protobuf v2');
    expect(best(`application/cbor${params}`)).toBe('cbor v2');
    expect(best('application/yaml')).toBe('yaml legacy');
  });

  it('returns the profile, known or unknown', () => {
    expect(best(`${V2};profile=nopeer`)).toBe('json v2 nopeer');
    expect(best(`${V2};profile=other`)).toBe('json v2 other');
  });

  it('reads a form in spite of parameters without a meaning', () => {
    expect(best(`${V2};foo=bar`)).toBe('json v2');
    expect(best('application/json;profile=unknown;foo=bar;pretty=1;charset=utf-8')).toBe('json legacy unknown');
  });

  it('ignores conversions that discovery does not support', () => {
    expect(best('application/json;as=Table;v=v1;g=meta.k8s.io,application/json')).toBe('json legacy');
    expect(best('application/json;as=Table;v=v1;g=meta.k8s.io')).toBeUndefined();
    expect(best(V2.replace('v=v2', 'v=v3'))).toBeUndefined();
    expect(best(`${V2};sv=v1`)).toBeUndefined();
    expect(best('application/json;stream=other')).toBeUndefined();
    expect(best('application/yaml;stream=watch')).toBeUndefined();
    expect(best('application/json;stream=watch')).toBe('json legacy');
  });
});

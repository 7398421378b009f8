import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { CelBudget } from './budget.js';
import { compile } from './cel-program.js';
import * as t from './cel-types.js';
import { CelCompileError } from './compile-error.js';
import { CelFailure } from './failure.js';
import { dynamicValue } from './json-values.js';
import { CelDouble, CelList, CelOptional, CelUint, INT_MAX, INT_MIN, intFrom, MapValue, type Value } from './values.js';

const OUT_OF_RANGE = 'failure: strconv.ParseUint: parsing "18446744073709551616": value out of range';

/** What a value looks like in the tables below. */
function plain(value: Value): unknown {
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelList) return value.items.map(plain);
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : { of: plain(value.value) };
  if (value instanceof Uint8Array) return [...value];
  if (value instanceof MapValue)
    return Object.fromEntries(value.keys().map((key) => [String(key), plain(value.find(key)!)]));
  return value;
}

const VARIABLES: ReadonlyMap<string, t.CelType> = new Map([
  ['x', t.DYN],
  ['i', t.INT],
  ['j', t.INT],
  ['s', t.STRING],
  ['u', t.STRING],
]);

function evaluate(
  source: string,
  variables: { x?: Json; i?: bigint; j?: bigint; s?: string; u?: string } = {},
): unknown {
  const { x = null, i = 0n, j = 0n, s = '', u = '' } = variables;
  try {
    return plain(compile(source, VARIABLES).run([dynamicValue(x), intFrom(i), intFrom(j), s, u]));
  } catch (error) {
    if (error instanceof CelFailure) return `failure: ${error.message}`;
    if (error instanceof CelCompileError) return `error: ${error.issues[0]!.message}`;
    throw error;
  }
}

describe('CEL literals', () => {
  it.each([
    ['42', 42],
    ['-7', -7],
    ['0xff', 255],
    ['-0x10', -16],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 'error: invalid int literal'],
    ['18446744073709551615u', '18446744073709551615u'],
    ['18446744073709551616u', 'error: invalid uint literal'],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['2.5E-1', 0.25],
    ['true', true],
    ['null', null],
    [`'a"b'`, 'a"b'],
    [`"it's"`, "it's"],
    [`'''a'b'''`, "a'b"],
    [`"""a\nb"""`, 'a\nb'],
    [`r'a\\nb'`, 'a\\nb'],
    [`'\\t\\n\\\\\\''`, "\t\n\\'"],
    [`'\\U0001F642'`, '🙂'],
    [`b'\\xff\\377é'`, [255, 255, 0xc3, 0xa9]],
    [`'\\q'`, "error: Syntax error: token recognition error at: ''\\q'"],
    [`'\\ud800'`, 'error: Syntax error: invalid escape sequence in a string'],
    ['[1, 2,]', [1, 2]],
    ["{'a': 1,}", { a: 1 }],
    ['1 // a comment', 1],
    ['[1, 2, 3][1]', 2],
    ['for', 'error: reserved identifier: for'],
    ['x.`a-b`', "error: unsupported syntax: '`'"],
    ['size(1, )', "error: Syntax error: mismatched input ')' expecting 'expression'"],
    ['Foo{a: 1}', "error: undeclared reference to 'Foo' (in container '')"],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });
});

describe('CEL operators', () => {
  it.each([
    ['1 + 2 * 3 - 4 / 2', 5],
    ['(1 + 2) * 3', 9],
    ['7 % 3', 1],
    ['-7 % 3', -1],
    ['-7 / 2', -3],
    ['2 < 3 && 3 <= 3 && 4 > 3 && 4 >= 4', true],
    ['1 != 2', true],
    ['!true || true', true],
    ['true ? (false ? 1 : 2) : 3', 2],
    ['true ? false ? 1 : 2 : 3', "error: Syntax error: mismatched input '?' expecting ':'"],
    ["'b' > 'a'", true],
    ["'\uffff' < '\u{10000}'", true],
    ["b'a' < b'b'", true],
    ['1 < 1.5', true],
    ['1u < 2', true],
    ['2.0 > 1u', true],
    ['dyn(1) == 1.0', true],
    ['dyn(1) == 1u', true],
    ["dyn(1) == '1'", false],
    ['0.0 / 0.0 == 0.0 / 0.0', false],
    ['0.0 / 0.0 < 1.0', 'failure: NaN values cannot be ordered'],
    ['-(-9223372036854775807 - 1)', 'failure: integer overflow'],
    ['(-9223372036854775807 - 1) / -1', 'failure: integer overflow'],
    ['(-9223372036854775807 - 1) % -1', 'failure: integer overflow'],
    ['9007199254740991 + 2', 9007199254740993n],
    ['9007199254740993 - 9007199254740992', 1],
    ['3037000500 * 3037000500', 'failure: integer overflow'],
    ['3037000499 * 3037000499', 9223372030926249001n],
    ["'a' in {'a': 1}", true],
    ['1.0 in [1]', "error: found no matching overload for '@in' applied to '(double, list(int))'"],
    ['dyn(1.0) in [1]', true],
    ["{1: 'a'}[dyn(1.0)]", 'a'],
    ['x.a.b', { x: { a: { b: 'deep' } } }, 'deep'],
    ['x.missing', { x: {} }, 'failure: no such key: missing'],
    ['x[0]', { x: [1] }, 1],
    ['x.nothing', { x: { nothing: null } }, null],
    ['has(x.a)', { x: { a: null } }, true],
    ['x + 1', { x: 'a' }, 'failure: no such overload'],
    ['x.all(e, e > 0)', { x: [1, 2] }, true],
    ['x.all(k, v, k + v != "")', { x: { a: 'b' } }, true],
    ['x > 1', { x: 1.5 }, true],
    ['x ? 1 : 2', { x: 'a' }, 'failure: no such overload'],
    ['x && false', { x: 'a' }, false],
    ['x && true', { x: 'a' }, 'failure: no such overload'],
  ] as [string, unknown, unknown?][])('%s', (source, given, expected) => {
    const hasVariables = expected !== undefined || typeof given === 'object';
    if (hasVariables && typeof given === 'object' && given !== null && 'x' in given) {
      expect(evaluate(source, given as { x: Json })).toEqual(expected);
    } else expect(evaluate(source)).toEqual(given);
  });
});

describe('CEL functions without a record from kube-apiserver', () => {
  it.each([
    ['type(google.protobuf.Duration) == type(int)', true],
    ["type(duration('1s')) == google.protobuf.Duration", true],
    ["string(timestamp('2024-01-01T00:00:00.120Z'))", '2024-01-01T00:00:00.12Z'],
    ["string(timestamp('0001-01-01T00:00:00Z'))", '0001-01-01T00:00:00Z'],
    ["timestamp('2024-01-01T23:00:00+05:30').getHours()", 17],
    ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", 'failure: timestamp overflow'],
    ["timestamp('2023-02-29T00:00:00Z')", 'error: invalid timestamp argument'],
    ['timestamp(s)', "failure: type conversion error from 'string' to 'google.protobuf.Timestamp'"],
    ["duration(s + '1h')", { s: '' }, undefined],
    ["duration('1d')", 'error: invalid duration argument'],
    ["string(duration('1m1.5s'))", '61.5s'],
    ["duration('90m').getHours()", 1],
    ["timestamp('2024-01-01T00:00:00Z').getHours('Nowhere/At_All')", 'failure: unknown time zone Nowhere/At_All'],
    ["'🙂a'.substring(1)", 'a'],
    ["'a🙂b'.indexOf('b')", 2],
    ["'a🙂b'.charAt(1)", '🙂'],
    ["'abc'.lastIndexOf('')", 3],
    ["''.split(',')", ['']],
    ["'a'.split('', 1)", ['a']],
    ["'%.1f'.format([1.25])", '1.2'],
    ["'%x'.format(['hi'])", '6869'],
    ["'%s %s'.format([true, null])", 'true null'],
    ["'%b'.format([true])", '1'],
    [
      "'%s'.format([dyn(optional.none())])",
      'failure: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type',
    ],
    ["'abc'.find('(' + s)", 'failure: Illegal regex: error parsing regexp: missing closing ): `(`'],
    ['[1.5, 2.5].sum()', 4],
    ["[duration('1s'), duration('2s')].sum() == duration('3s')", true],
    ["['b', 'a'].max()", 'b'],
    ['[].min() == 1', 'failure: min called on empty list'],
    ['[[1], [2]].flatten(0)', [[1], [2]]],
    ['[3, 1, 2].sortBy(e, e)', [1, 2, 3]],
    ["['aa', 'b'].sortBy(e, e.size())", ['b', 'aa']],
    [
      '[[1]].sortBy(e, e)',
      "error: found no matching overload for '@sortByAssociatedKeys' applied to 'list(list(int)).(list(list(int)))'",
    ],
    ['sets.contains([], [1])', false],
    ["{'a': 1}.transformMap(k, v, v > 5, v)", {}],
    ['[1, 1].transformMapEntry(i, v, {v: i})', 'failure: insert failed: key 1 already exists'],
    ['[1, 2].existsOne(i, v, v == 2)', true],
    ['[1, 2].all(i, i, true)', 'error: duplicate variable name: i'],
    ['[1].all(1, true)', 'error: argument must be a simple name'],
    ['[1].map(a.b, true)', 'error: argument is not an identifier'],
    ['optional.of(1).or(optional.of(2))', { of: 1 }],
    ['optional.none().or(optional.of(2))', { of: 2 }],
    ['optional.of(optional.none())', { of: 'none' }],
    ["{'a': {'b': 1}}.?a.b", { of: 1 }],
    ["{'a': {'b': 1}}.?c.b", 'none'],
    ["has({'a': {'b': 1}}.?a.b)", true],
    ["quantity('-1.5').isLessThan(quantity('0'))", true],
    ["quantity('1Ki').asInteger()", 1024],
    ["ip('fe80::1').isLinkLocalUnicast()", true],
    ["ip('224.0.0.1').isLinkLocalMulticast()", true],
    ["ip('0.0.0.0').isUnspecified()", true],
    ["ip('fe80::1%eth0')", 'failure: IP address "fe80::1%eth0" with zone value is not allowed'],
    ["string(ip('1:0:0:2:0:0:0:3'))", '1:0:0:2::3'],
    ["cidr('::/0').containsIP('1.2.3.4')", false],
    ["isCIDR('10.0.0.0')", false],
    [
      "url('https://example.com:port/')",
      'failure: URL parse error during conversion from string: parse "https://example.com:port/": invalid port ":port" after host',
    ],
    [
      "url('http://a/%zz')",
      'failure: URL parse error during conversion from string: parse "http://a/%zz": invalid URL escape "%zz"',
    ],
    ["format.uri().validate('nope').value()", ['parse "nope": invalid URI for request']],
    ["format.byte().validate('aGk=').hasValue()", false],
    ["semver('1.2.3-alpha.2').isLessThan(semver('1.2.3-alpha.10'))", true],
    ["semver('1.0.0+a') == semver('1.0.0+b')", true],
    // Numbers of versions are unsigned integers of 64 bits in Kubernetes, so none may lose digits.
    ["semver('1.0.0-20261118043015123').isLessThan(semver('1.0.0-20261118043015124'))", true],
    ["semver('9007199254740993.0.0').isGreaterThan(semver('9007199254740992.0.0'))", true],
    ["semver('1.9007199254740993.0').minor()", 9007199254740993n],
    ["semver('18446744073709551615.0.0').major()", -1],
    ["isSemver('18446744073709551616.0.0')", false],
    [`isSemver('1.0.0-${'a'.repeat(600)}')`, true],
    ["semver('1.0.0-18446744073709551616')", OUT_OF_RANGE],
    ["semver('1.18446744073709551616.0')", OUT_OF_RANGE],
  ] as [string, unknown, unknown?][])('%s', (source, expected) => {
    if (source.startsWith('duration(s +')) {
      expect(compile(source, VARIABLES).run([null, 0, 0, '', ''])).toEqual({ nanos: 3_600_000_000_000n });
    } else expect(evaluate(source)).toEqual(expected);
  });
});

describe('CEL integers', () => {
  const int = fc.bigInt({ min: INT_MIN, max: INT_MAX });
  const mixed = fc.oneof(
    int,
    fc.bigInt({ min: -100n, max: 100n }),
    fc.constantFrom(INT_MIN, INT_MAX, 2n ** 53n, -(2n ** 53n)),
  );
  const operations: readonly (readonly [string, (a: bigint, b: bigint) => bigint | undefined])[] = [
    ['+', (a, b) => a + b],
    ['-', (a, b) => a - b],
    ['*', (a, b) => a * b],
    ['/', (a, b) => (b === 0n ? undefined : a / b)],
    ['%', (a, b) => (b === 0n || (a === INT_MIN && b === -1n) ? undefined : a % b)],
  ];

  it.each(operations)('have an exact i %s j, or the evaluation fails', (operator, exact) => {
    const program = compile(`i ${operator} j`, VARIABLES);
    fc.assert(
      fc.property(mixed, mixed, (i, j) => {
        const wanted = exact(i, j);
        const run = (): Value => program.run([null, intFrom(i), intFrom(j), '', '']);
        if (wanted === undefined || wanted < INT_MIN || wanted > INT_MAX) {
          try {
            run();
            return false;
          } catch (error) {
            return error instanceof CelFailure;
          }
        }
        return run() === intFrom(wanted);
      }),
    );
  });

  it('are ordered by value', () => {
    const program = compile('i < j', VARIABLES);
    fc.assert(fc.property(mixed, mixed, (i, j) => program.run([null, intFrom(i), intFrom(j), '', '']) === i < j));
  });

  it('are equal after conversion to string and back', () => {
    const program = compile('int(string(i)) == i && string(i) == s', VARIABLES);
    fc.assert(fc.property(mixed, (i) => program.run([null, intFrom(i), 0, String(i), '']) === true));
  });
});

describe('CEL strings', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 });

  it('are counted and ordered by code points', () => {
    const size = compile('size(s)', VARIABLES);
    const less = compile('s < u', VARIABLES);
    fc.assert(fc.property(text, (s) => size.run([null, 0, 0, s, '']) === [...s].length));
    fc.assert(
      fc.property(
        text,
        text,
        (s, u) => less.run([null, 0, 0, s, u]) === Buffer.compare(Buffer.from(s), Buffer.from(u)) < 0,
      ),
    );
  });

  it('are equal after split and join', () => {
    const program = compile('s.split(u).join(u) == s', VARIABLES);
    const part = fc.string({ unit: 'binary', minLength: 1, maxLength: 2 });
    fc.assert(fc.property(text, part, (s, u) => program.run([null, 0, 0, s, u]) === true));
  });

  it('are equal to the concatenation of their substrings', () => {
    const program = compile('s.substring(0, i) + s.substring(i) == s', VARIABLES);
    fc.assert(
      fc.property(text, fc.nat(12), (s, at) => {
        const i = Math.min(at, [...s].length);
        return program.run([null, i, 0, s, '']) === true;
      }),
    );
  });

  it('are found by contains, endsWith and indexOf at the end of a concatenation', () => {
    const program = compile('(s + u).contains(u) && (s + u).endsWith(u) && (s + u).indexOf(u) <= size(s)', VARIABLES);
    fc.assert(fc.property(text, text, (s, u) => program.run([null, 0, 0, s, u]) === true));
  });
});

describe('the CEL compiler', () => {
  it('compiles and evaluates any text, or throws CelCompileError or CelFailure', () => {
    const piece = fc.constantFrom(
      ...'a b 1 .5 0x "x" \' ( ) [ ] { } . , ? : && || ! - + * / % < == in true null has(a.b) .all(e,e) `'.split(' '),
    );
    const source = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(piece, { maxLength: 15 }).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(source, (each) => {
        try {
          compile(each, VARIABLES).run([null, 0, 0, '', ''], new CelBudget(10_000));
        } catch (error) {
          return error instanceof CelCompileError || error instanceof CelFailure;
        }
        return true;
      }),
      { numRuns: 2_000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatLabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  parseLabelSelector,
  SelectorError,
} from './label-selector.js';

const LABEL_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** The answers of a kube-apiserver 1.36.4 to `GET /api/v1/pods?labelSelector=…`. */
const REFUSED: readonly [selector: string, message: string][] = [
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=b!c', "found '!', expected: ',' or 'end of string'"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in ((b))', "unable to parse requirement: found '(', expected: ',', ')' or identifier"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  [',a', "found ',', expected: !, identifier, or 'end of string'"],
  ['=b', "found '=', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a=b,(c)', "found '(', expected: identifier after ','"],
  ['a==b=c', "found '=', expected: ',' or 'end of string'"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a<>b', "unable to parse requirement: found '>', expected: identifier"],
  ['a!', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ['a!!b', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ['/a', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
  ['-a', `unable to parse requirement: <nil>: Invalid value: "-a": name part ${LABEL_RULE}`],
  [
    'a/b/c',
    `unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key ${LABEL_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
  ],
  [
    'A.B/x',
    `unable to parse requirement: <nil>: Invalid value: "A.B/x": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ],
  ['a=-b', `unable to parse requirement: values[0][a]: Invalid value: "-b": ${VALUE_RULE}`],
  [
    'a>x',
    `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  [
    'a<-',
    `unable to parse requirement: [values[0]: Invalid value: "-": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "-": ${VALUE_RULE}]`,
  ],
];

describe('parseLabelSelector', () => {
  it.each(REFUSED)('refuses %j with the words of kube-apiserver', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(new SelectorError(message));
  });

  it('refuses a selector that is too long without parsing it', () => {
    expect(() => parseLabelSelector('a'.repeat(300 * 1024))).toThrow('longer than');
  });

  it.each([
    ['', ''],
    ['a', 'a'],
    ['!a', '!a'],
    [' z = 1 , a != 2 ', 'a!=2,z=1'],
    ['x in (foo,,baz),y,z notin ()', 'x in (,baz,foo),y,z notin ()'],
    ['a notin (,x)', 'a notin (,x)'],
    ['in in (in)', 'in in (in)'],
    ['a=', 'a='],
    ['a==b', 'a==b'],
    ['a>5,b<-3', undefined],
    ['a>5', 'a>5'],
    ['example.com/a in (c,b,b)', 'example.com/a in (b,c)'],
  ])('parses %j', (selector, canonical) => {
    if (canonical === undefined) expect(() => parseLabelSelector(selector)).toThrow(SelectorError);
    else expect(formatLabelSelector(parseLabelSelector(selector))).toBe(canonical);
  });

  it('never throws anything but a SelectorError, and its canonical text means the same', () => {
    const piece = fc.constantFrom(
      'a',
      'b1',
      'in',
      'notin',
      '(',
      ')',
      ',',
      '!',
      '=',
      '==',
      '!=',
      '<',
      '>',
      ' ',
      '-',
      '5',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.dictionary(fc.constantFrom('a', 'b1', 'in'), piece),
        (parts, labels) => {
          try {
            const selector = parseLabelSelector(parts.join(''));
            const again = parseLabelSelector(formatLabelSelector(selector));
            expect(matchesLabels(again, labels)).toBe(matchesLabels(selector, labels));
          } catch (error) {
            expect(error).toBeInstanceOf(SelectorError);
          }
        },
      ),
    );
  });
});

describe('matchesLabels', () => {
  const labels = { app: 'web', tier: '', size: '12' };

  it.each([
    ['', true],
    ['app', true],
    ['!app', false],
    ['nope', false],
    ['!nope', true],
    ['app=web', true],
    ['app==api', false],
    ['app!=api', true],
    ['nope!=x', true],
    ['nope notin (x)', true],
    ['app in (api,web)', true],
    ['app notin (api,web)', false],
    ['tier=', true],
    ['tier in ()', true],
    ['nope in ()', false],
    ['size>11', true],
    ['size>12', false],
    ['size<13', true],
    ['app>1', false],
    ['nope<1', false],
    ['app=web,tier=front', false],
    ['toString', false],
    ['!constructor', true],
  ])('%j is %s', (selector, expected) => {
    expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(expected);
  });

  it('treats an object without labels as one with none', () => {
    expect(matchesLabels(parseLabelSelector('!a'), undefined)).toBe(true);
  });
});

describe('labelSelectorFromObject', () => {
  it('joins matchLabels and matchExpressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['y', 'x'] },
        { key: 'c', operator: 'DoesNotExist' },
      ],
    });
    expect(formatLabelSelector(selector)).toBe('a in (x,y),b=1,!c');
  });

  it('treats null in the place of a requirement as an empty requirement', () => {
    const selector = JSON.parse('{"matchExpressions":[null]}');
    expect(() => labelSelectorFromObject(selector)).toThrow(SelectorError);
  });

  it('refuses an unknown operator', () => {
    expect(() => labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).toThrow(
      '"Near" is not a valid label selector operator',
    );
  });

  it('refuses In without values', () => {
    expect(() => labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
      "values set can't be empty",
    );
  });
});

import { created, filled, type HostileRequest, many, members, patched, replaced } from './hostile-request.js';

const WIDGETS = '/apis/example.io/v1/namespaces/default/widgets';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const string = { type: 'string' };
const integer = { type: 'integer' };
const arrayOf = (items: object, rest: object = {}) => ({ type: 'array', items, ...rest });
const free = { 'x-kubernetes-preserve-unknown-fields': true };

const deepArrays = (levels: number): object => (levels === 0 ? integer : arrayOf(deepArrays(levels - 1)));

/** Every way in which validation, defaulting or pruning can be made to work, one member each. */
const PROPERTIES = {
  free,
  enumerated: arrayOf({ type: 'string', enum: many(15_000, (i) => `value-${i}`) }),
  enumeratedObjects: arrayOf({ type: 'object', properties: { a: integer }, enum: many(2_000, (a) => ({ a })) }),
  unique: arrayOf(free, { uniqueItems: false }),
  set: arrayOf(string, { 'x-kubernetes-list-type': 'set' }),
  keyed: arrayOf(
    { type: 'object', required: ['name'], properties: { name: string, value: integer } },
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  ),
  pattern: arrayOf({ type: 'string', pattern: '^(a|b|ab)*c$' }),
  patternOnce: { type: 'string', pattern: '^(a?){50}a{50}$' },
  anyOf: arrayOf({ type: 'string', anyOf: many(500, (i) => ({ minLength: 1_000 + i })) }),
  oneOf: arrayOf({ type: 'string', oneOf: many(500, (i) => ({ minLength: 1_000 + i })) }),
  deepOneOf: {
    type: 'object',
    ...free,
    oneOf: many(8, () => ({
      anyOf: many(8, () => ({ oneOf: many(8, () => ({ allOf: many(8, () => ({ required: ['a'] })) })) })),
    })),
  },
  defaults: arrayOf({
    type: 'object',
    default: {},
    properties: members(
      50,
      (i) => `d${i}`,
      () => ({ type: 'object', default: {}, properties: { x: { type: 'string', default: 'x' } } }),
    ),
  }),
  large: arrayOf({ ...arrayOf(integer), default: many(10_000, () => 1) }),
  map: { type: 'object', additionalProperties: integer, maxProperties: 400_000 },
  ints: arrayOf(integer),
  formats: arrayOf({ type: 'string', format: 'date-time' }),
  ips: arrayOf({ type: 'string', format: 'ipv6' }),
  nested: deepArrays(60),
  rules: arrayOf({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= 0' }] }, { maxItems: 200_000 }),
  rule: {
    type: 'object',
    properties: { items: arrayOf(integer, { maxItems: 1_000 }) },
    'x-kubernetes-validations': [{ rule: 'self.items.all(a, self.items.all(b, a <= b + 1000000))' }],
  },
  texts: {
    type: 'object',
    properties: { items: arrayOf({ type: 'string', maxLength: 100 }, { maxItems: 2_000 }) },
    'x-kubernetes-validations': [{ rule: 'self.items.all(a, !a.contains("zzz"))' }],
  },
  embedded: arrayOf({ type: 'object', 'x-kubernetes-embedded-resource': true, ...free }),
};

const version = (name: string, schema: object, rest: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...rest,
});

const definition = (plural: string, kind: string, versions: readonly object[], rest: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.io` },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase() },
    versions,
    ...rest,
  },
});

/** Stored before the corpus is sent. */
export const WIDGET_DEFINITION = definition('widgets', 'Widget', [
  version(
    'v1',
    { type: 'object', properties: PROPERTIES },
    {
      additionalPrinterColumns: [
        { name: 'All', type: 'string', jsonPath: '.keyed[*].name' },
        { name: 'One', type: 'integer', jsonPath: '.ints[0]' },
      ],
      selectableFields: [{ jsonPath: '.patternOnce' }],
    },
  ),
  version('v2', { type: 'object', ...free }),
]);

const widget = (name: string, value: () => unknown): HostileRequest =>
  created(`custom resource: ${name}`, WIDGETS, () => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { name: 'hostile' },
    ...(value() as object),
  }));

const text = (name: string, members: () => string): HostileRequest =>
  created(
    `custom resource: ${name}`,
    WIDGETS,
    () => `{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"h"},${members()}}`,
  );

export const HOSTILE_CUSTOM_RESOURCES: readonly HostileRequest[] = [
  text('55,000 items of 15,000 values', () => `"enumerated":[${filled(() => '"value-14999"', 750_000)}]`),
  text('values that are not among 15,000', () => `"enumerated":[${filled(() => '"x"', 200_000)}]`),
  widget('objects of 2,000 values', () => ({ enumeratedObjects: many(28_000, () => ({ a: 1_999 })) })),
  widget('a set', () => ({ set: many(28_000, (i) => `i${i}`) })),
  widget('a set of equal items', () => ({ set: many(28_000, () => 'i') })),
  widget('a map list', () => ({ keyed: many(8_000, (i) => ({ name: `i${i}` })) })),
  widget('a map list of equal keys', () => ({ keyed: many(8_000, () => ({ name: 'i' })) })),
  widget('patterns', () => ({ pattern: many(50_000, () => `${'ab'.repeat(15)}d`) })),
  widget('one long pattern', () => ({ pattern: ['ab'.repeat(1_000_000)], patternOnce: 'a'.repeat(500_000) })),
  widget('any of 500 for 55,000 items', () => ({ anyOf: many(55_000, () => 'x') })),
  widget('one of 500 for 55,000 items', () => ({ oneOf: many(55_000, () => 'x') })),
  widget('alternatives of alternatives', () => ({
    deepOneOf: members(
      55_000,
      (i) => `k${i}`,
      () => 1,
    ),
  })),
  text('defaults in a long list', () => `"defaults":[${filled(() => '{}', 110_000)}]`),
  text('defaults in place of nulls', () => `"defaults":[${filled(() => 'null', 250_000)}]`),
  text('a default of 10,000 items for each of 50,000', () => `"large":[${filled(() => 'null', 250_000)}]`),
  widget('defaults in 3,000 items', () => ({ defaults: many(3_000, () => ({})) })),
  widget('a map', () => ({
    map: members(
      55_000,
      (i) => `k${i}`,
      () => 1,
    ),
  })),
  widget('a map of wrong values', () => ({
    map: members(
      55_000,
      (i) => `k${i}`,
      () => 'x',
    ),
  })),
  text('1.4 million integers', () => `"ints":[${filled(() => '1', 2_900_000)}]`),
  text('50,000 integers', () => `"ints":[${filled(() => '1', 100_000)}]`),
  text('50,000 wrong integers', () => `"ints":[${filled(() => '""', 150_000)}]`),
  text('1.4 million free values', () => `"free":[${filled(() => '1', 2_900_000)}]`),
  text('free objects', () => `"free":[${filled(() => '{}', 2_900_000)}]`),
  text(
    '50,000 members below 900 levels',
    () => `"free":${'{"a":'.repeat(900)}{${filled((i) => `"k${i}":1`, 500_000)}}${'}'.repeat(900)}`,
  ),
  text('nested free objects', () => `"free":[${filled(() => '{"a":{"b":{"c":{}}}}', 290_000)}]`),
  widget('dates', () => ({ formats: many(55_000, () => '2024-01-01T00:00:00Z') })),
  widget('addresses', () => ({ ips: many(55_000, () => '2001:db8::1') })),
  widget('wrong addresses', () => ({ ips: many(55_000, () => ':'.repeat(10)) })),
  text('nested arrays', () => `"nested":${'['.repeat(60)}1${']'.repeat(60)}`),
  widget('pruned members', () => ({
    ...members(
      55_000,
      (i) => `u${i}`,
      () => 1,
    ),
  })),
  widget('pruned members of items', () => ({ keyed: many(8_000, (i) => ({ name: `i${i}`, u: 1, v: 1 })) })),
  widget('a rule for each of 55,000 items', () => ({ rules: many(55_000, () => 1) })),
  widget('a rule broken by each of 55,000 items', () => ({ rules: many(55_000, () => -1) })),
  widget('a rule at its cost limit', () => ({ rule: { items: many(1_000, (i) => i) } })),
  widget('a rule over texts', () => ({ texts: { items: many(2_000, (i) => `${'x'.repeat(90)}${i}`) } })),
  widget('embedded objects', () => ({
    embedded: many(8_500, (i) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${i}`, labels: { a: 'b' } } })),
  })),
  widget('embedded objects with wrong labels', () => ({
    embedded: many(700, (i) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `p${i}`,
        labels: members(
          100,
          (l) => `/ ${l}`,
          () => '$',
        ),
      },
    })),
  })),
  replaced('custom resource: replaces a large map list', `${WIDGETS}/large`, () => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { name: 'large' },
    keyed: many(7_000, (i) => ({ name: `n${i}`, value: 2 })),
  })),
  replaced('custom resource: replaces a large map list in another order', `${WIDGETS}/large`, () => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { name: 'large' },
    keyed: many(7_000, (i) => ({ name: `n${6_999 - i}`, value: 1 })),
  })),
  patched(
    'merge',
    'custom resource: through another version',
    '/apis/example.io/v2/namespaces/default/widgets/large',
    () => ({
      ints: many(55_000, (i) => i),
    }),
  ),
  definitionRequest('a schema of 20,000 properties', () => ({
    type: 'object',
    properties: members(
      20_000,
      (i) => `p${i}`,
      () => string,
    ),
  })),
  definitionRequest('a schema of nested properties', () => ({
    type: 'object',
    properties: members(
      300,
      (i) => `p${i}`,
      () => ({
        type: 'object',
        properties: members(
          100,
          (k) => `q${k}`,
          () => integer,
        ),
      }),
    ),
  })),
  definitionRequest('a schema of 10,000 rules', () => ({
    type: 'object',
    properties: members(
      10_000,
      (i) => `p${i}`,
      () => ({ ...integer, 'x-kubernetes-validations': [{ rule: 'self > 0' }] }),
    ),
  })),
  definitionRequest('10,000 rules on one value', () => ({
    type: 'object',
    properties: {
      p: { ...integer, 'x-kubernetes-validations': many(10_000, (i) => ({ rule: `self > ${i}`, message: 'm' })) },
    },
  })),
  definitionRequest('a rule of 100 kB', () => ({
    type: 'object',
    properties: {
      p: { ...integer, 'x-kubernetes-validations': [{ rule: many(10_000, () => 'self > 0').join(' && ') }] },
    },
  })),
  definitionRequest('a rule of nested macros', () => ({
    type: 'object',
    properties: {
      p: arrayOf(integer, {
        maxItems: 2,
        'x-kubernetes-validations': [
          { rule: `${many(200, (i) => `self.all(x${i}, `).join('')}true${')'.repeat(200)}` },
        ],
      }),
    },
  })),
  definitionRequest('an enum of 55,000 values', () => ({
    type: 'object',
    properties: { p: { type: 'string', enum: many(55_000, (i) => `v${i}`) } },
  })),
  definitionRequest('an enum of equal values', () => ({
    type: 'object',
    properties: { p: { type: 'string', enum: many(55_000, () => 'v') } },
  })),
  definitionRequest('a default of 55,000 items', () => ({
    type: 'object',
    properties: { p: arrayOf(integer, { default: many(55_000, (i) => i) }) },
  })),
  definitionRequest('defaults that multiply', () => ({
    type: 'object',
    properties: members(
      100,
      (i) => `p${i}`,
      () => ({
        type: 'object',
        default: {},
        properties: members(
          100,
          (k) => `q${k}`,
          () => ({ ...string, default: 'x' }),
        ),
      }),
    ),
  })),
  definitionRequest('required names', () => ({
    type: 'object',
    required: many(55_000, (i) => `r${i}`),
    properties: { a: string },
  })),
  definitionRequest('patterns', () => ({
    type: 'object',
    properties: members(
      5_000,
      (i) => `p${i}`,
      (i) => ({ type: 'string', pattern: `^(a|b){${i % 900}}$` }),
    ),
  })),
  definitionRequest('one large pattern', () => ({
    type: 'object',
    properties: { p: { type: 'string', pattern: `^${'(a|b){1000}'.repeat(50)}$` } },
  })),
  definitionRequest('a pattern of 1,500 long repetitions', () => ({
    type: 'object',
    properties: { p: { type: 'string', pattern: `^${'(a|b){1000}'.repeat(1_500)}$` } },
  })),
  definitionRequest('alternatives', () => ({
    type: 'object',
    properties: { p: { type: 'string', anyOf: many(27_000, (i) => ({ minLength: i })) } },
  })),
  definitionRequest('deep alternatives', () => {
    let schema: object = {};
    for (let level = 0; level < 190; level++) schema = { allOf: [schema, {}] };
    return { type: 'object', properties: { p: { type: 'string', ...schema } } };
  }),
  definitionRequest('list keys that are no properties', () => ({
    type: 'object',
    properties: {
      p: arrayOf(
        { type: 'object' },
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': many(50_000, (i) => `k${i}`) },
      ),
    },
  })),
  definitionRequest('list keys', () => ({
    type: 'object',
    properties: {
      p: arrayOf(
        {
          type: 'object',
          required: many(15_000, (i) => `k${i}`),
          properties: members(
            15_000,
            (i) => `k${i}`,
            () => string,
          ),
        },
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': many(15_000, (i) => `k${i}`) },
      ),
    },
  })),
  created('definition: 3,000 versions', DEFINITIONS, () =>
    definition(
      'things',
      'Thing',
      many(3_000, (i) => version(`v${i + 1}`, { type: 'object' })),
    ),
  ),
  created('definition: 13,000 columns', DEFINITIONS, () =>
    definition('things', 'Thing', [
      version(
        'v1',
        { type: 'object', ...free },
        {
          additionalPrinterColumns: many(13_000, (i) => ({ name: `C${i}`, type: 'string', jsonPath: `.spec.a${i}` })),
        },
      ),
    ]),
  ),
  created('definition: 30,000 short names', DEFINITIONS, () => {
    const made = definition('things', 'Thing', [version('v1', { type: 'object' })]);
    return {
      ...made,
      spec: {
        ...made.spec,
        names: {
          ...made.spec.names,
          shortNames: many(30_000, (i) => `s${i}`),
          categories: many(25_000, (i) => `c${i}`),
        },
      },
    };
  }),
];

function definitionRequest(name: string, schema: () => object): HostileRequest {
  return created(`definition: ${name}`, DEFINITIONS, () => definition('things', 'Thing', [version('v1', schema())]));
}

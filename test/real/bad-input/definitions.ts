import { DEFINITIONS, definition, type OddRequest, TOO_DEEP } from './request.js';

/** A schema with something in `spec`. */
function specOf(spec: object): object {
  return { type: 'object', properties: { spec } };
}

function schemaRequest(what: string, plural: string, schema: object, more: object = {}): OddRequest {
  return { what, path: `${DEFINITIONS}?dryRun=All`, body: definition(plural, schema, more) };
}

function deep(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

function deepList(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema };
  return schema;
}

const LIST = { type: 'array', items: { type: 'string' } };
const ruled = (schema: object, ...rules: string[]): object =>
  specOf({ ...schema, 'x-kubernetes-validations': rules.map((rule) => ({ rule })) });

export const SCHEMAS: readonly OddRequest[] = [
  schemaRequest('a schema without type', 'untypeds', {}),
  schemaRequest('a schema of a list', 'lists', { type: 'array', items: { type: 'string' } }),
  schemaRequest('a reference to itself', 'cycles', specOf({ $ref: '#' })),
  schemaRequest('definitions that refer to each other', 'rings', {
    type: 'object',
    definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } },
  }),
  schemaRequest('a schema of 100 levels', 'hundreds', specOf(deep(100))),
  { ...schemaRequest('a schema of 1,000 levels', 'thousands', specOf(deep(1_000))), deliberately: TOO_DEEP },
  schemaRequest('lists of 100 levels', 'towers', specOf(deepList(100))),
  schemaRequest('an unknown type', 'odds', specOf({ type: 'colour' })),
  schemaRequest('a type that is a list', 'twos', specOf({ type: ['string', 'null'] })),
  schemaRequest('an unknown member', 'extras', specOf({ type: 'string', colour: 'red' })),
  schemaRequest('a list without items', 'itemlesses', specOf({ type: 'array' })),
  schemaRequest(
    'properties and additional ones',
    'boths',
    specOf({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } }),
  ),
  schemaRequest('types within anyOf', 'anys', specOf({ type: 'string', anyOf: [{ type: 'integer' }] })),
  schemaRequest('unique items', 'uniques', specOf({ ...LIST, uniqueItems: true })),
  schemaRequest('a default of the wrong type', 'defaults', specOf({ type: 'integer', default: 'x' })),
  schemaRequest('a default that breaks a limit', 'limits', specOf({ type: 'integer', default: 9, maximum: 3 })),
  schemaRequest('a pattern that is none', 'patterns', specOf({ type: 'string', pattern: '(' })),
  schemaRequest('a pattern that looks back', 'behinds', specOf({ type: 'string', pattern: '(a)\\1' })),
  schemaRequest(
    'a pattern with a huge count',
    'counts',
    specOf({ type: 'string', pattern: '((a{1000}){1000}){1000}' }),
  ),
  schemaRequest('a pattern that backtracks', 'backs', specOf({ type: 'string', pattern: '^(a+)+$' })),
  schemaRequest(
    'a list map without keys',
    'maps',
    specOf({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
  ),
  schemaRequest(
    'a set of objects',
    'sets',
    specOf({ type: 'array', items: { type: 'object', properties: {} }, 'x-kubernetes-list-type': 'set' }),
  ),
  schemaRequest('metadata restricted', 'metas', {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
  }),
  schemaRequest('a rule that is none', 'syntaxes', ruled({ type: 'string' }, 'self ==')),
  schemaRequest('a rule of unknown names', 'names', ruled({ type: 'string' }, 'other > 1')),
  schemaRequest('a rule that is no boolean', 'bools', ruled({ type: 'string' }, 'self')),
  schemaRequest('an empty rule', 'empties', ruled({ type: 'string' }, '')),
  schemaRequest('a rule of the wrong types', 'mixes', ruled({ type: 'string' }, 'self > 5')),
  schemaRequest(
    'a rule that costs too much',
    'costs',
    ruled({ type: 'array', items: LIST }, 'self.all(a, self.all(b, self.all(c, a == b || b == c)))'),
  ),
  schemaRequest('a rule with a costly pattern', 'matches', ruled(LIST, 'self.all(x, x.matches("^(a+)+$"))')),
  schemaRequest('a rule with a pattern that is none', 'wrongs', ruled({ type: 'string' }, 'self.matches("(")')),
  schemaRequest('a rule of 20,000 characters', 'longs', ruled({ type: 'string' }, `self != "${'x'.repeat(20_000)}"`)),
  schemaRequest(
    'a rule of 500 parentheses',
    'parens',
    ruled({ type: 'boolean' }, `${'('.repeat(500)}self${')'.repeat(500)}`),
  ),
  schemaRequest(
    'a rule of 2,000 additions',
    'sums',
    ruled({ type: 'integer' }, `self < ${Array(2_000).fill('1').join('+')}`),
  ),
  schemaRequest('a rule about the old value at creation', 'olds', ruled({ type: 'string' }, 'oldSelf == self')),
  schemaRequest(
    'a hundred rules',
    'manies',
    ruled({ type: 'string', maxLength: 10 }, ...Array.from({ length: 100 }, (_, index) => `self != "${index}"`)),
  ),
  schemaRequest(
    'a message expression that is none',
    'messages',
    specOf({ type: 'string', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: '1' }] }),
  ),
  schemaRequest(
    'a column that is none',
    'columns',
    { type: 'object' },
    { additionalPrinterColumns: [{ name: 'a', type: 'colour', jsonPath: 'x' }] },
  ),
  schemaRequest('a scale without paths', 'scales', { type: 'object' }, { subresources: { scale: {} } }),
  schemaRequest(
    'selectable fields that are none',
    'fields',
    { type: 'object' },
    { selectableFields: [{ jsonPath: '.spec.absent' }] },
  ),
  {
    what: 'a definition without versions',
    path: DEFINITIONS,
    body: {
      ...definition('voids', {}),
      spec: { group: 'odd.example.test', scope: 'Namespaced', names: { plural: 'voids', kind: 'Void' }, versions: [] },
    },
  },
  {
    what: 'a definition under another name',
    path: DEFINITIONS,
    body: { ...definition('others', { type: 'object' }), metadata: { name: 'wrong' } },
  },
  {
    what: 'a definition of the wrong types',
    path: DEFINITIONS,
    body: { ...definition('types', { type: 'object' }), spec: 'x' },
  },
  {
    what: 'a definition in a group of Kubernetes',
    path: `${DEFINITIONS}?dryRun=All`,
    body: {
      ...definition('protects', { type: 'object' }),
      metadata: { name: 'protects.odd.k8s.io' },
      spec: { ...(definition('protects', { type: 'object' }) as { spec: object }).spec, group: 'odd.k8s.io' },
    },
  },
];

/** What the requests for custom resources are about. */
export const GADGET_DEFINITION = definition(
  'gadgets',
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': [{ rule: '!has(self.size) || !has(self.most) || self.size <= self.most' }],
        properties: {
          size: { type: 'integer' },
          most: { type: 'integer' },
          text: { type: 'string' },
          backtracks: { type: 'string', pattern: '^(a+)+$' },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          pairs: {
            type: 'array',
            maxItems: 400,
            items: { type: 'integer' },
            'x-kubernetes-validations': [{ rule: 'self.all(a, self.exists(b, a != b))' }],
          },
        },
      },
    },
  },
  { subresources: { status: {} } },
);

import type { Json, JsonObject } from '../../src/kube/json.js';

/** What differs from an ordinary definition. */
export interface DefinitionCase {
  readonly name: string;
  readonly crd: JsonObject;
}

const NAMES = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };

export function definition(overrides: {
  readonly name?: string;
  readonly annotations?: JsonObject;
  readonly spec?: JsonObject;
  readonly names?: JsonObject;
  readonly version?: JsonObject;
  readonly versions?: Json[];
  readonly schema?: Json;
}): JsonObject {
  const version: JsonObject = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: overrides.schema ?? { type: 'object' } },
    ...overrides.version,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: overrides.name ?? 'widgets.example.com',
      ...(overrides.annotations === undefined ? {} : { annotations: overrides.annotations }),
    },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: overrides.names ?? NAMES,
      versions: overrides.versions ?? [version],
      ...overrides.spec,
    },
  };
}

const root = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const spec = (schema: Json): JsonObject => root({ spec: schema });
const list = (more: JsonObject): JsonObject => spec(root({ list: { type: 'array', ...more } }));
const withVersion = (version: JsonObject): JsonObject => definition({ version });
const v = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});
const webhook = (clientConfig: Json, more: JsonObject = {}): JsonObject =>
  definition({
    spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig, ...more } } },
  });

const SCHEMAS: Readonly<Record<string, Json>> = {
  'no type at the root': { properties: { a: { type: 'string' } } },
  'no type in a field': spec({ properties: { a: { type: 'string' } } }),
  'no type in items': list({ items: {} }),
  'no items': list({}),
  'items are a list': list({ items: [{ type: 'string' }] }),
  'array at the root': { type: 'array', items: { type: 'string' } },
  'unknown type': spec({ type: 'map' }),
  'type null': spec({ type: 'null' }),
  ref: spec({ $ref: '#/definitions/a' }),
  id: spec({ type: 'object', id: 'x' }),
  uniqueItems: list({ items: { type: 'string' }, uniqueItems: true }),
  'additionalItems, patternProperties, dependencies, definitions': spec({
    type: 'object',
    additionalItems: true,
    patternProperties: { a: { type: 'string' } },
    dependencies: { a: ['b'] },
    definitions: { a: { type: 'string' } },
  }),
  'additionalProperties beside properties': spec(
    root({ a: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
  ),
  'additionalProperties false beside properties': spec(
    root({ a: { type: 'string' } }, { additionalProperties: false }),
  ),
  'additionalProperties at the root': { type: 'object', additionalProperties: { type: 'string' } },
  'nullable root': { type: 'object', nullable: true },
  'preserve false': spec({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
  'int-or-string with preserve': spec({
    'x-kubernetes-int-or-string': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  'int-or-string with embedded': spec({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': true }),
  'int-or-string, first form': spec({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  }),
  'int-or-string, second form': spec({
    'x-kubernetes-int-or-string': true,
    allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { maxLength: 3 }],
  }),
  'int-or-string in the wrong order': spec({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'string' }, { type: 'integer' }],
  }),
  'types and texts in anyOf': spec({
    type: 'object',
    properties: { a: { type: 'string' } },
    anyOf: [
      { type: 'object', title: 't', description: 'd', nullable: true, default: {} },
      { properties: { b: { minLength: 1 }, a: { pattern: '(' } } },
    ],
    allOf: [{ additionalProperties: { minLength: 1 } }, { items: { minLength: 1 } }],
    oneOf: [{ 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-embedded-resource': true }],
    not: {
      'x-kubernetes-int-or-string': true,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-list-map-keys': ['a'],
      'x-kubernetes-map-type': 'atomic',
      'x-kubernetes-validations': [{ rule: 'true' }],
    },
  }),
  'metadata in anyOf': root({ metadata: { type: 'object' } }, { anyOf: [{ properties: { metadata: {} } }] }),
  'bad pattern': spec(root({ a: { type: 'string', pattern: 'a(b' } })),
  lookahead: spec(root({ a: { type: 'string', pattern: '^(?!a)b' } })),
  'metadata with labels': root({ metadata: root({ labels: { type: 'object' } }) }),
  'metadata with name': root({ metadata: root({ name: { type: 'string', maxLength: 5 } }) }),
  'metadata of another type': root({ metadata: { type: 'string' } }),
  'metadata with a description': root({ metadata: { type: 'object', description: 'mine' } }),
  'kind and apiVersion of another type': root({ kind: { type: 'integer' }, apiVersion: { type: 'boolean' } }),
  'default in metadata': root({ metadata: root({ name: { type: 'string', default: 'a' } }) }),
  'embedded without type': spec({ 'x-kubernetes-embedded-resource': true }),
  'embedded of type string': spec({ type: 'string', 'x-kubernetes-embedded-resource': true }),
  'embedded without properties': spec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
  'embedded with additionalProperties': spec({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    additionalProperties: { type: 'string' },
  }),
  'embedded in metadata of embedded': spec({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: {
      metadata: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'string' } } },
      kind: { type: 'integer' },
    },
  }),
  'default of the wrong type': spec(root({ a: { type: 'integer', default: 'x' } })),
  'default that is too big': spec(root({ a: { type: 'integer', maximum: 3, default: 4 } })),
  'default with unknown fields': spec(root({ a: { ...root({ b: { type: 'string' } }), default: { c: 1 } } })),
  'default without a required field': spec(
    root({ a: { ...root({ b: { type: 'string', default: 'x' } }, { required: ['b'] }), default: {} } }),
  ),
  'default not in enum': spec(root({ a: { type: 'string', enum: ['x'], default: 'y' } })),
  'default null': spec(root({ a: { type: 'string', default: null } })),
  'default of an embedded object': spec(
    root({
      a: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        default: { kind: 'x' },
      },
    }),
  ),
  'map type on a string': spec({ type: 'string', 'x-kubernetes-map-type': 'atomic' }),
  'map type without type': spec({ 'x-kubernetes-map-type': 'atomic' }),
  'unknown map type': spec({ type: 'object', 'x-kubernetes-map-type': 'odd' }),
  'list type on an object': spec({ type: 'object', 'x-kubernetes-list-type': 'atomic' }),
  'unknown list type': list({ items: { type: 'string' }, 'x-kubernetes-list-type': 'odd' }),
  'set of granular objects': list({ items: root({ a: { type: 'string' } }), 'x-kubernetes-list-type': 'set' }),
  'set of sets': list({
    items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    'x-kubernetes-list-type': 'set',
  }),
  'set of nullable': list({ items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' }),
  'keys without list type': list({ items: root({ a: { type: 'string' } }), 'x-kubernetes-list-map-keys': ['a'] }),
  'keys with a set': list({
    items: { type: 'string' },
    'x-kubernetes-list-type': 'set',
    'x-kubernetes-list-map-keys': ['a'],
  }),
  'map list without keys': list({ items: root({ a: { type: 'string' } }), 'x-kubernetes-list-type': 'map' }),
  'map list of strings': list({
    items: { type: 'string' },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
  }),
  'map list with odd keys': list({
    items: root({ a: { type: 'object' }, b: { type: 'string', nullable: true } }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a', 'b', 'b', 'c'],
  }),
  'map list with a good key': list({
    items: root({ a: { type: 'string', default: 'x' } }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
  }),
  'rules without rule, message, reason, path': spec({
    ...root({ a: { type: 'string' } }),
    'x-kubernetes-validations': [
      { rule: ' ' },
      { rule: 'true', message: ' ' },
      { rule: 'true ', message: 'a\nb' },
      { rule: 'true\n|| false' },
      { rule: 'true  ', messageExpression: ' ' },
      { rule: '  true', reason: 'Odd' },
      { rule: ' true', fieldPath: '.b' },
      { rule: ' true ', fieldPath: '.a' },
    ],
  }),
  'anyOf about an undeclared field of the root': root(
    {},
    { anyOf: [{ required: ['a'] }, { properties: { b: { minLength: 1 } } }] },
  ),
  'anyOf about undeclared items': root(
    { a: { type: 'object' } },
    { not: { properties: { a: { items: { minLength: 1 } } } } },
  ),
  'default at the root': { type: 'object', default: { a: 1 } },
  'default in items and values': spec(
    root({
      a: { type: 'array', items: { type: 'string', default: 5 } },
      b: { type: 'object', additionalProperties: { type: 'string', default: 5 } },
      c: { type: 'array', items: root({ d: { type: 'integer' } }), default: [{ d: 'x' }, { e: 1 }] },
      f: { type: 'object', additionalProperties: { type: 'integer' }, default: { g: 'x' } },
    }),
  ),
  'default in an embedded object': spec({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: {
      kind: { type: 'string', default: 5 },
      metadata: root({ labels: { type: 'object', additionalProperties: { type: 'string', default: 'x' } } }),
      spec: root({ a: { type: 'string', default: 1 } }),
    },
  }),
  'default that breaks alternatives': spec(
    root({ a: { type: 'integer', default: 4, anyOf: [{ maximum: 3 }, { minimum: 9 }], not: { minimum: 2 } } }),
  ),
  'metadata of a part': spec(root({ metadata: { type: 'string' }, kind: { type: 'integer' } })),
  'patterns in alternatives': spec({ type: 'string', anyOf: [{ pattern: '[' }, { not: { pattern: 'a{2,1}' } }] }),
  'rules below items and values': spec(
    root({
      a: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: '' }] } },
      b: { type: 'object', additionalProperties: { type: 'string', 'x-kubernetes-validations': [{ rule: '' }] } },
    }),
  ),
  'everything of a number': spec(
    root({
      a: {
        type: 'number',
        minimum: 1.5,
        maximum: 2,
        exclusiveMinimum: true,
        multipleOf: 0.5,
        format: 'double',
        default: 1,
      },
    }),
  ),
  'list type map of a set': list({
    items: root({ a: { type: 'string' }, b: { type: 'array', items: { type: 'string' } } }, { required: ['a', 'b'] }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a', 'b'],
  }),
  'map list without items': list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }),
  'unknown format': spec(root({ a: { type: 'string', format: 'odd' }, b: { type: 'integer', format: 'int8' } })),
  'free-form and empty objects': spec(
    root({
      a: { type: 'object' },
      b: { type: 'object', additionalProperties: true },
      c: { 'x-kubernetes-preserve-unknown-fields': true },
    }),
  ),
};

export const DEFINITION_CASES: readonly DefinitionCase[] = [
  { name: 'ordinary', crd: definition({ names: { plural: 'widgets', kind: 'Widget' } }) },
  { name: 'wrong name', crd: definition({ name: 'gadgets.example.com' }) },
  { name: 'no group', crd: definition({ spec: { group: '' } }) },
  { name: 'group of one label', crd: definition({ name: 'widgets.example', spec: { group: 'example' } }) },
  { name: 'odd group', crd: definition({ spec: { group: 'Example_com' } }) },
  { name: 'no scope', crd: definition({ spec: { scope: '' } }) },
  { name: 'unknown scope', crd: definition({ spec: { scope: 'Zone' } }) },
  { name: 'no names', crd: definition({ names: { plural: '', kind: '' } }) },
  {
    name: 'odd names',
    crd: definition({
      names: {
        plural: 'Widgets',
        singular: '-w',
        kind: 'Wid_get',
        listKind: 'Wid_get',
        shortNames: ['W', 'ok'],
        categories: ['All!'],
      },
    }),
  },
  { name: 'no versions', crd: definition({ versions: [] }) },
  { name: 'no storage version', crd: definition({ versions: [v('v1')] }) },
  {
    name: 'two storage versions',
    crd: definition({ versions: [v('v1', { storage: true }), v('v2', { storage: true })] }),
  },
  { name: 'the same version twice', crd: definition({ versions: [v('v1', { storage: true }), v('v1')] }) },
  { name: 'odd version', crd: definition({ versions: [v('V.1', { storage: true })] }) },
  { name: 'no schema', crd: withVersion({ schema: {} }) },
  {
    name: 'one version without schema',
    crd: definition({ versions: [v('v1', { storage: true }), { name: 'v2', served: true, storage: false }] }),
  },
  {
    name: 'one of two versions has a bad schema',
    crd: definition({
      versions: [v('v1', { storage: true }), v('v2', { schema: { openAPIV3Schema: { type: 'string' } } })],
    }),
  },
  { name: 'preserveUnknownFields', crd: definition({ spec: { preserveUnknownFields: true } }) },
  { name: 'warning without deprecation', crd: withVersion({ deprecationWarning: 'x' }) },
  { name: 'empty warning', crd: withVersion({ deprecated: true, deprecationWarning: '' }) },
  { name: 'long warning', crd: withVersion({ deprecated: true, deprecationWarning: 'x'.repeat(257) }) },
  { name: 'unprintable warning', crd: withVersion({ deprecated: true, deprecationWarning: 'a\u0007' }) },
  { name: 'scale without paths', crd: withVersion({ subresources: { scale: {} } }) },
  {
    name: 'scale paths elsewhere',
    crd: withVersion({
      subresources: {
        scale: { specReplicasPath: '.status.a', statusReplicasPath: '.spec.a', labelSelectorPath: '.metadata.a' },
      },
    }),
  },
  {
    name: 'scale paths without a dot',
    crd: withVersion({
      subresources: { scale: { specReplicasPath: 'spec.a', statusReplicasPath: 'status.a', labelSelectorPath: 'a' } },
    }),
  },
  {
    name: 'odd columns',
    crd: withVersion({
      additionalPrinterColumns: [
        { name: '', type: '', jsonPath: '' },
        { name: 'a', type: 'odd', format: 'odd', jsonPath: 'a' },
      ],
    }),
  },
  {
    name: 'status subresource and a root that says too much',
    crd: withVersion({
      subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', minProperties: 1, properties: { a: { type: 'string' } } } },
    }),
  },
  {
    name: 'selectable fields',
    crd: withVersion({
      schema: { openAPIV3Schema: spec(root({ a: { type: 'string' }, o: { type: 'object' } })) },
      selectableFields: [
        { jsonPath: '' },
        { jsonPath: '.spec.a' },
        { jsonPath: '.spec.a' },
        { jsonPath: '.spec.b' },
        { jsonPath: '.spec.o' },
        { jsonPath: "['spec'].a" },
        { jsonPath: 'spec.a' },
        { jsonPath: '.spec.' },
      ],
    }),
  },
  {
    name: 'too many selectable fields',
    crd: withVersion({
      schema: {
        openAPIV3Schema: spec(
          root(Object.fromEntries([...'abcdefghi'].map((name) => [name, { type: 'string' }])) as JsonObject),
        ),
      },
      selectableFields: [...'abcdefghi'].map((name) => ({ jsonPath: `.spec.${name}` })),
    }),
  },
  {
    name: 'versions that share nothing',
    crd: definition({
      versions: [
        v('v1', {
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.a' } },
          additionalPrinterColumns: [{ name: 'a', type: 'x', jsonPath: '.a' }],
          selectableFields: [{ jsonPath: '.metadata.name' }],
          schema: {
            openAPIV3Schema: { ...root({ metadata: root({ name: { type: 'string' } }) }), additionalProperties: true },
          },
        }),
        v('v2', { deprecated: true, deprecationWarning: 'a\tb', schema: { openAPIV3Schema: { type: 'string' } } }),
      ],
    }),
  },
  {
    name: 'versions that share a bad schema',
    crd: definition({
      versions: [
        v('v1', { storage: true, schema: { openAPIV3Schema: { type: 'string' } } }),
        v('v2', { schema: { openAPIV3Schema: { type: 'string' } }, subresources: { status: {} } }),
      ],
    }),
  },
  {
    name: 'versions shown with all they have',
    crd: definition({
      versions: [
        v('v1', {
          subresources: { status: {}, scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } },
          additionalPrinterColumns: [{ name: 'a', type: 'string', jsonPath: '.a', priority: 1 }],
          schema: {
            openAPIV3Schema: spec(
              root({
                a: { type: 'array', items: { type: 'string', enum: ['x', 1] } },
                b: { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
                c: { type: 'object', additionalProperties: true, 'x-kubernetes-preserve-unknown-fields': true },
                d: { type: 'string', allOf: [{ maxLength: 3 }], not: { pattern: '<&>' }, default: 'x' },
              }),
            ),
          },
        }),
        v('v2', { selectableFields: [] }),
      ],
    }),
  },
  {
    name: 'webhook and preserveUnknownFields',
    crd: definition({
      spec: {
        preserveUnknownFields: true,
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.test:8443/a/b/' } },
        },
      },
      schema: spec(root({ a: { type: 'string', default: 'x' } })),
    }),
  },
  {
    name: 'webhook with a bundle that is none',
    crd: webhook({ service: { namespace: 'a', name: 'b', path: '//', port: 70_000 }, caBundle: 'bm8=' }),
  },
  { name: 'url without anything', crd: webhook({ url: '' }) },
  { name: 'unknown conversion', crd: definition({ spec: { conversion: { strategy: 'Magic' } } }) },
  { name: 'conversion without strategy', crd: definition({ spec: { conversion: { strategy: '' } } }) },
  {
    name: 'webhook without strategy',
    crd: definition({
      spec: {
        conversion: {
          strategy: 'None',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.test/' } },
        },
      },
    }),
  },
  { name: 'webhook without anything', crd: definition({ spec: { conversion: { strategy: 'Webhook' } } }) },
  { name: 'webhook without url and service', crd: webhook({}) },
  {
    name: 'webhook with url and service',
    crd: webhook({ url: 'https://a.test', service: { namespace: 'a', name: 'b' } }),
  },
  { name: 'webhook with an odd url', crd: webhook({ url: 'http://user@/path?query#fragment' }) },
  {
    name: 'webhook with an odd service',
    crd: webhook({ service: { namespace: '', name: '', path: 'a//B', port: 0 } }),
  },
  {
    name: 'webhook with no review versions',
    crd: webhook({ url: 'https://a.test' }, { conversionReviewVersions: [] }),
  },
  {
    name: 'webhook with odd review versions',
    crd: webhook({ url: 'https://a.test' }, { conversionReviewVersions: ['v9', 'v9', 'V!'] }),
  },
  { name: 'webhook', crd: webhook({ service: { namespace: 'a', name: 'b', path: '/convert' } }) },
  {
    name: 'protected group',
    crd: definition({ name: 'widgets.example.k8s.io', spec: { group: 'example.k8s.io' } }),
  },
  {
    name: 'protected group with an odd approval',
    crd: definition({
      name: 'widgets.example.k8s.io',
      spec: { group: 'example.k8s.io' },
      annotations: { 'api-approved.kubernetes.io': 'yes' },
    }),
  },
  {
    name: 'protected group without approval',
    crd: definition({
      name: 'widgets.example.k8s.io',
      spec: { group: 'example.k8s.io' },
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
    }),
  },
  ...Object.entries(SCHEMAS).map(([name, schema]) => ({ name, crd: definition({ schema }) })),
];

/** Of the definition that DEFINITION_CASES calls ordinary, once it is established. */
export const UPDATE_CASES: readonly DefinitionCase[] = [
  { name: 'group', crd: definition({ spec: { group: 'other.com' } }) },
  { name: 'plural', crd: definition({ names: { ...NAMES, plural: 'others' } }) },
  { name: 'scope', crd: definition({ spec: { scope: 'Cluster' } }) },
  { name: 'kind', crd: definition({ names: { ...NAMES, kind: 'Other' } }) },
  { name: 'stored version gone', crd: definition({ versions: [v('v2', { storage: true })] }) },
  { name: 'preserveUnknownFields', crd: definition({ spec: { preserveUnknownFields: true } }) },
  { name: 'another storage version', crd: definition({ versions: [v('v1'), v('v2', { storage: true })] }) },
  {
    name: 'bad authority',
    crd: webhook({ url: 'https://a.test', caBundle: Buffer.from('not a certificate').toString('base64') }),
  },
];

const GADGET_SCHEMA = (isTight: boolean): JsonObject =>
  root(
    {
      metadata: root({ name: { type: 'string', maxLength: 12 } }),
      spec: root(
        {
          int: { type: 'integer', ...(isTight ? { minimum: 2, maximum: 5 } : {}) },
          i32: { type: 'integer', format: 'int32' },
          num: { type: 'number', ...(isTight ? { multipleOf: 0.5 } : {}) },
          text: { type: 'string', ...(isTight ? { minLength: 2, maxLength: 4, pattern: '^a+$' } : {}) },
          en: { type: 'string', ...(isTight ? { enum: ['x', 'y'] } : {}) },
          num1: { type: 'integer', ...(isTight ? { enum: [1, 2] } : {}) },
          uuid: { type: 'string', ...(isTight ? { format: 'uuid' } : {}) },
          date: { type: 'string', format: 'date-time' },
          host: { type: 'string', ...(isTight ? { format: 'hostname' } : {}) },
          ip: { type: 'string', ...(isTight ? { format: 'ipv4' } : {}) },
          ip6: { type: 'string', ...(isTight ? { format: 'ipv6' } : {}) },
          cidr: { type: 'string', ...(isTight ? { format: 'cidr' } : {}) },
          duration: { type: 'string', ...(isTight ? { format: 'duration' } : {}) },
          email: { type: 'string', ...(isTight ? { format: 'email' } : {}) },
          uri: { type: 'string', ...(isTight ? { format: 'uri' } : {}) },
          short: { type: 'string', ...(isTight ? { format: 'k8s-short-name' } : {}) },
          any: {
            type: 'integer',
            ...(isTight ? { anyOf: [{ maximum: 3 }, { minimum: 10, multipleOf: 2 }] } : {}),
          },
          one: { type: 'integer', ...(isTight ? { oneOf: [{ maximum: 5 }, { minimum: 3 }] } : {}) },
          all: { type: 'integer', ...(isTight ? { allOf: [{ maximum: 5 }, { minimum: 3 }] } : {}) },
          not: { type: 'integer', ...(isTight ? { not: { minimum: 3 } } : {}) },
          either: {
            ...root({ a: { type: 'string' }, b: { type: 'string' } }),
            ...(isTight ? { oneOf: [{ required: ['a'] }, { required: ['b'] }] } : {}),
          },
          ios: { 'x-kubernetes-int-or-string': true },
          ios2: {
            'x-kubernetes-int-or-string': true,
            anyOf: [{ type: 'integer' }, { type: 'string' }],
            ...(isTight ? { pattern: '^[0-9]+%$' } : {}),
          },
          list: { type: 'array', items: { type: 'string' }, ...(isTight ? { minItems: 1, maxItems: 2 } : {}) },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          parts: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['id'],
            items: root(
              { id: { type: 'string' }, n: { type: 'integer', ...(isTight ? { maximum: 5 } : {}) } },
              { required: ['id'] },
            ),
          },
          map: {
            type: 'object',
            additionalProperties: { type: 'integer', ...(isTight ? { maximum: 5 } : {}) },
            ...(isTight ? { minProperties: 1, maxProperties: 2 } : {}),
          },
          nul: { type: 'string', nullable: true },
          nulldef: { type: 'string', default: 'd' },
          obj: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 3 } } },
          empty: { type: 'object' },
          open: { type: 'object', additionalProperties: true },
          free: { 'x-kubernetes-preserve-unknown-fields': true },
          half: {
            ...root({ known: root({ a: { type: 'string' } }) }),
            'x-kubernetes-preserve-unknown-fields': true,
          },
          closed: { type: 'object', additionalProperties: false },
          filled: { type: 'array', items: { type: 'string', default: 'd' } },
          sets: {
            type: 'object',
            additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          },
          kept: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          pair: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            properties: { a: { type: 'integer' }, b: { type: 'string' } },
            ...(isTight ? { enum: [{ a: 1 }, { b: 'x' }] } : {}),
          },
          float: { type: 'number', format: 'float', ...(isTight ? { maximum: 2.5, exclusiveMaximum: true } : {}) },
          chosen: {
            ...root({
              a: { type: 'string' },
              b: { type: 'integer' },
              c: { type: 'array', items: { type: 'integer' } },
            }),
            ...(isTight
              ? {
                  anyOf: [
                    { properties: { a: { enum: ['x'] }, b: { maximum: 3 } } },
                    { required: ['b'], properties: { c: { items: { minimum: 5 } } } },
                  ],
                  allOf: [{ maxProperties: 2 }, { minProperties: 1, not: { required: ['b', 'c'] } }],
                }
              : {}),
          },
          inner: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            properties: { spec: root({ a: { type: 'string' } }) },
          },
        },
        isTight ? { required: ['must'] } : {},
      ),
      status: root({ n: { type: 'integer', maximum: 5 } }),
    },
    {},
  );

function gadgets(isTight: boolean): JsonObject {
  const schema = GADGET_SCHEMA(isTight) as { properties: { spec: { properties: JsonObject } } };
  schema.properties.spec.properties['must'] = { type: 'string' };
  return definition({
    name: 'gadgets.example.com',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList', shortNames: ['gd'] },
    version: {
      schema: { openAPIV3Schema: schema as unknown as Json },
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.int', statusReplicasPath: '.status.n' },
      },
      selectableFields: [{ jsonPath: '.spec.text' }],
      additionalPrinterColumns: [{ name: 'Int', type: 'integer', jsonPath: '.spec.int' }],
    },
  });
}

export const LOOSE_GADGETS = gadgets(false);
export const TIGHT_GADGETS = gadgets(true);

export interface ResourceCase {
  readonly name: string;
  /** What is there already; made while the definition was loose. */
  readonly live?: JsonObject;
  readonly spec?: Json;
  readonly status?: Json;
  readonly more?: JsonObject;
  readonly objectName?: string;
}

const must = 'yes';
const one = (field: string, value: Json): ResourceCase => ({
  name: `${field} ${JSON.stringify(value)}`,
  spec: { must, [field]: value },
});

export const RESOURCE_CASES: readonly ResourceCase[] = [
  { name: 'nothing', more: {} },
  { name: 'empty spec', spec: {} },
  { name: 'long name', objectName: 'a-name-that-is-too-long', spec: { must } },
  { name: 'a list for an object', spec: [] },
  one('int', 1),
  one('int', 1.5),
  one('int', 'x'),
  one('int', -1),
  one('i32', 3_000_000_000),
  one('num', 1.2),
  one('text', 'b'),
  one('text', 'bbbbb'),
  one('text', 'bbb'),
  one('text', 5),
  one('en', 'z'),
  one('en', 3),
  one('num1', 3),
  one('uuid', 'x'),
  one('uuid', 5),
  one('date', true),
  one('date', '2026-13-01T00:00:00Z'),
  one('date', '2026-12-01T00:00:00Z'),
  one('host', 'a b'),
  one('host', 'a.example.com'),
  one('ip', '1.2.3.400'),
  one('ip', '1.2.3.4'),
  one('ip6', '::g'),
  one('ip6', 'fe80::1'),
  one('cidr', '10.0.0.0/33'),
  one('cidr', '10.0.0.0/8'),
  one('duration', 'soon'),
  one('duration', '1h30m'),
  one('duration', '3 days'),
  one('email', 'a@'),
  one('email', 'a@example.com'),
  one('uri', 'no uri'),
  one('uri', 'https://example.com/a'),
  one('short', 'A.b'),
  one('any', 2),
  one('any', 5),
  one('any', 11),
  one('any', 'x'),
  one('one', 4),
  one('one', 6),
  one('one', 'x'),
  one('all', 2),
  one('all', 'x'),
  one('not', 4),
  one('either', {}),
  one('either', { a: 'a', b: 'b' }),
  one('either', { a: 'a' }),
  one('ios', 5),
  one('ios', true),
  one('ios', 1.5),
  one('ios2', 'x'),
  one('ios2', '5%'),
  one('list', []),
  one('list', ['a', 'b', 'c']),
  one('list', [1, 'a']),
  one('list', [null]),
  one('set', ['a', 'b', 'a', 'a']),
  one('parts', [{ id: 'a' }, { id: 'a' }]),
  one('parts', [{ n: 3 }, { id: 'b', n: 9 }]),
  one('map', {}),
  one('map', { a: 1, b: 2, c: 3 }),
  one('map', { a: 'x', b: 9 }),
  one('map', { a: null, b: 1 }),
  one('nul', null),
  one('nulldef', null),
  one('text', null),
  one('free', null),
  one('ios', null),
  one('empty', { a: 1 }),
  one('open', { a: 1, b: { c: 1 }, d: [{ e: 1 }, 2], f: null }),
  one('free', { a: { b: [null, { c: 1 }] } }),
  one('half', { known: { a: 'x', b: 'y' }, other: { c: 1 }, gone: null }),
  one('inner', { spec: { a: 'x', b: 1 } }),
  one('inner', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', odd: 1 }, spec: { a: 'x', b: 1 }, more: 1 }),
  one('inner', { apiVersion: 'a/b/c', kind: 'No_Kind', metadata: { name: 'a/b' } }),
  one('inner', { apiVersion: '', kind: '', metadata: { name: 'a', labels: { 'a!': 'b' }, namespace: 'A' } }),
  one('inner', { apiVersion: 'v1', kind: 'Pod', metadata: { annotations: { a: 'b' }, finalizers: ['x'] } }),
  one('inner', null),
  one('closed', { a: 1, b: { c: 1 } }),
  one('filled', [null, 'a']),
  one('sets', { k: ['a', 'a'], 'l.m': ['b'] }),
  one('map', { 'a.b': 'x' }),
  one('kept', [{ a: 1 }, null]),
  one('pair', { a: 1 }),
  one('pair', { a: 2 }),
  one('pair', { a: 1, b: 'x' }),
  one('float', 2),
  one('float', 3),
  one('float', 2.5),
  one('float', 'x'),
  one('float', true),
  one('text', 'a🙂a'),
  one('text', 'aé'),
  one('chosen', {}),
  one('chosen', { a: 'x' }),
  one('chosen', { a: 'y' }),
  one('chosen', { a: 'y', b: 9 }),
  one('chosen', { a: 'y', b: 9, c: [1, 7] }),
  one('chosen', { a: 1, b: 'x', c: 5 }),
  one('chosen', []),
  one('obj', { a: null, b: 1 }),
  one('unknown', 1),
  { name: 'status is left out of a create', spec: { must }, status: { n: 9 } },
  {
    name: 'unchanged fields are not looked at',
    live: { text: 'bbbbbb', int: 9, en: 'z' },
    spec: { text: 'bbbbbb', int: 9, en: 'z', num: 1 },
  },
  { name: 'changed fields are', live: { text: 'bbbbbb', int: 9 }, spec: { text: 'bbbbbb', int: 10 } },
  {
    name: 'unchanged spec',
    live: { text: 'bbbbbb' },
    spec: { text: 'bbbbbb' },
    more: { metadata: { labels: { a: 'b' } } },
  },
  {
    name: 'items of a map list go together by key',
    live: {
      must,
      parts: [
        { id: 'a', n: 9 },
        { id: 'b', n: 9 },
      ],
    },
    spec: {
      must,
      parts: [
        { id: 'b', n: 9 },
        { id: 'a', n: 8 },
      ],
    },
  },
  {
    name: 'items of other lists do not',
    live: { must, list: ['a', 'b', 'c'] },
    spec: { must, list: ['a', 'b', 'c', 'd'] },
  },
  { name: 'lists that stay', live: { must, list: ['a', 'b', 'c'] }, spec: { must, list: ['a', 'b', 'c'], num: 1 } },
  { name: 'values of a map', live: { must, map: { a: 9 } }, spec: { must, map: { a: 9, b: 8 } } },
  {
    name: 'alternatives that stay',
    live: { must, any: 5, one: 4, not: 9 },
    spec: { must, any: 5, one: 4, not: 9, num: 1 },
  },
  { name: 'alternatives that change', live: { must, any: 5 }, spec: { must, any: 7 } },
  {
    name: 'parts of alternatives',
    live: { must, either: { a: 'a', b: 'b' } },
    spec: { must, either: { a: 'a', b: 'c' } },
  },
  { name: 'status', live: { must }, status: { n: 9 } },
  { name: 'status that is a text', live: { must }, status: 'x' },
  { name: 'status null', live: { must }, status: null },
  {
    name: 'parts of alternatives that stay',
    live: { must, chosen: { a: 'y', c: [1] } },
    spec: { must, chosen: { a: 'y', c: [1], b: 9 } },
  },
  { name: 'sets with doubles that stay', live: { must }, spec: { must, set: ['a', 'a'] } },
  { name: 'status of another type', live: { must }, status: { n: 'x' } },
];

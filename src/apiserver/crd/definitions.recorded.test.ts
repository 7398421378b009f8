import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cloneJson, type Json, type JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { type FieldProblem, invalid } from '../schema/field-problems.js';
import { definitionStatus } from './definition-status.js';
import { definitionStrategy } from './definition-strategy.js';
import { setDefinitionDefaults } from './set-definition-defaults.js';

interface RecordedCase {
  readonly name: string;
  readonly crd: JsonObject;
  readonly answer: {
    readonly code: number;
    readonly causes?: FieldProblem[];
    readonly spec?: Json;
    readonly status?: Json;
    readonly warnings?: string[];
  };
}

interface Recorded {
  readonly created: readonly RecordedCase[];
  readonly updated: readonly RecordedCase[];
  readonly statuses: readonly { readonly crd: JsonObject; readonly status: JsonObject }[];
}

const recorded = JSON.parse(readFileSync(new URL('./definitions.recorded.json', import.meta.url), 'utf8')) as Recorded;

/** Causes have no order: kube-apiserver walks maps. */
function sorted(problems: readonly FieldProblem[]): string[] {
  return problems.map(({ field, reason, message }) => `${field} | ${reason} | ${message}`).sort();
}

const established = (): JsonObject => ({
  ...setDefinitionDefaults(cloneJson(recorded.statuses[0]!.crd)),
  status: cloneJson(recorded.statuses[0]!.status),
});

const strategy = definitionStrategy();
const context = { now: '2026-01-02T03:04:05Z', objects: new FakeObjects() };

function validateDefinition(crd: JsonObject): FieldProblem[] {
  const name = nameOf(crd);
  const ofName = strategy.nameProblems(name, false).map((text) => invalid('metadata.name', name, text));
  return [...ofName, ...strategy.validateCreate(crd, context)];
}

describe('the validation of a new CustomResourceDefinition', () => {
  it.each(recorded.created)('has the problems and defaults recorded from kube-apiserver: $name', ({ crd, answer }) => {
    const defaulted = setDefinitionDefaults(cloneJson(crd));
    expect(sorted(validateDefinition(defaulted))).toEqual(sorted(answer.causes ?? []));
    if (answer.spec !== undefined) expect(withoutNulls(defaulted['spec']!)).toEqual(answer.spec);
  });

  it.each([4_000, 100_000])('refuses a schema of %i levels', (levels) => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } };
    expect(validateDefinition(withSchema(schema))).toEqual([
      expect.objectContaining({
        field: 'spec.versions[0].schema.openAPIV3Schema',
        message: expect.stringContaining('deeper'),
      }),
    ]);
  });

  it('refuses a schema of too many parts', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200_000 }, (_, index) => [`a${index}`, { type: 'string' }]),
    );
    expect(validateDefinition(withSchema({ type: 'object', properties }))).toHaveLength(1);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('accepts a field named %s', (name) => {
    const schema = JSON.parse(`{"type":"object","properties":{"${name}":{"type":"string"}}}`) as JsonObject;
    expect(validateDefinition(withSchema(schema))).toEqual([]);
  });

  it.each([null, 5, 'x', [], { versions: 5, names: [], conversion: [] }, { versions: [5, { schema: 5 }] }])(
    'refuses a spec of %j without an exception',
    (spec) => {
      const crd = setDefinitionDefaults({ metadata: { name: 'a.example.com' }, spec } as unknown as JsonObject);
      expect(validateDefinition(crd).length).toBeGreaterThan(0);
    },
  );

  it('refuses a pattern with huge nested repetitions', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '(((a{100}){100}){100})*$' } } };
    expect(validateDefinition(withSchema(schema))).toHaveLength(1);
  });
});

describe('the strategy of CustomResourceDefinitions', () => {
  it.each(recorded.created.filter(({ answer }) => answer.code === 201))(
    'has the status and warnings recorded from kube-apiserver: $name',
    ({ crd, answer }) => {
      const sent = setDefinitionDefaults({ ...cloneJson(crd), status: { storedVersions: ['v9'] } });
      const made = strategy.prepareForCreate(sent, context);
      expect(made['status']).toEqual(answer.status);
      expect(made['metadata']).toEqual(sent['metadata']);
      const warnings = (answer.warnings ?? []).map((text) => JSON.parse(text.replace(/^299 - /, '')) as string);
      expect(strategy.warnings!(made, undefined)).toEqual(warnings);
    },
  );

  it('changes only the status through the status subresource', () => {
    const live = established();
    const part = strategy.parts.get('status')!;
    const sent = { ...live, spec: {}, status: { acceptedNames: { plural: 'A!', kind: 'A' } } };
    const object = part.prepareForUpdate(sent, live, context);
    expect(object['spec']).toEqual(live['spec']);
    expect(part.validateUpdate(object, live, context).map(({ field }) => field)).toEqual([
      'status.acceptedNames.plural',
    ]);
  });
});

describe('the status of a CustomResourceDefinition', () => {
  it.each(recorded.statuses)('is the one recorded from kube-apiserver (status %#)', ({ crd, status }) => {
    const fresh = strategy.prepareForCreate(setDefinitionDefaults(cloneJson(crd)), context);
    const others = recorded.statuses[0]!.crd === crd ? [] : [established()];
    expect(timeless(definitionStatus(fresh, [...others, fresh], context.now))).toEqual(status);
  });

  it('keeps the time of a condition that did not change', () => {
    const fresh = strategy.prepareForCreate(setDefinitionDefaults(cloneJson(recorded.statuses[0]!.crd)), context);
    const first = { ...fresh, status: definitionStatus(fresh, [fresh], '2026-01-01T00:00:00Z') };
    expect(definitionStatus(first, [first], '2027-01-01T00:00:00Z')).toEqual(first.status);
  });
});

describe('an update of a CustomResourceDefinition', () => {
  it.each(recorded.updated)('has the problems recorded from kube-apiserver: $name', ({ crd, answer }) => {
    const live = established();
    const sent = setDefinitionDefaults({ ...cloneJson(crd), metadata: live['metadata']! });
    const updated = strategy.prepareForUpdate(sent, live, context);
    expect(sorted(strategy.validateUpdate(updated, live, context))).toEqual(sorted(answer.causes ?? []));
    if (answer.status !== undefined) expect(timeless(updated['status']!)).toEqual(timeless(answer.status));
  });
});

function withSchema(openAPIV3Schema: JsonObject): JsonObject {
  const crd = established();
  crd['spec'] = {
    ...(crd['spec'] as JsonObject),
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  };
  return crd;
}

/** A default of null is none: Go's types lose it. */
function withoutNulls(value: Json): Json {
  return JSON.parse(JSON.stringify(value, (_, each: Json) => (each === null ? undefined : each))) as Json;
}

function timeless(status: Json): Json {
  return JSON.parse(
    JSON.stringify(status, (key, each: Json) => (key === 'lastTransitionTime' ? undefined : each)),
  ) as Json;
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cloneJson, isObject, type Json, type JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { customComponents } from '../documents/openapi-custom-schema.js';
import { definitionToV2 } from '../documents/openapi-v2-convert.js';
import type { FieldProblem } from '../schema/field-problems.js';
import { pruneUnknownFields, unknownFieldMessage } from '../schema/unknown-fields.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { customResourceTypes } from './custom-resource-types.js';
import { definitionStatus } from './definition-status.js';
import { openApiSchemaOf } from './definition-watch.js';

interface RecordedCase {
  readonly name: string;
  readonly live?: JsonObject;
  readonly spec?: Json;
  readonly body: JsonObject;
  readonly answer: {
    readonly code: number;
    readonly causes?: FieldProblem[];
    readonly spec?: Json;
    readonly warnings?: string[];
  };
}

interface Recorded {
  readonly definition: JsonObject;
  readonly cases: readonly RecordedCase[];
  readonly conversion: { readonly code: number; readonly message: string };
  readonly openApiV3: JsonObject;
  readonly openApiV2: JsonObject;
  readonly terminating: {
    readonly status: JsonObject;
    readonly answer: { readonly code: number; readonly message: string };
  };
}

const recorded = JSON.parse(readFileSync(new URL('./resources.recorded.json', import.meta.url), 'utf8')) as Recorded;
const surface = await loadSurface('1.36');
const dependencies = {
  objectMeta: surface.type('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')!,
  outbound: { call: () => Promise.reject(new Error('nobody is called')) },
  resolveService: () => ({ address: '', serverName: '' }),
};
const context = { now: '2026-01-02T03:04:05Z', objects: new FakeObjects() };

function gadgets(status: JsonObject = definitionStatus(recorded.definition, [], context.now)) {
  return customResourceTypes({ ...recorded.definition, status }, dependencies)[0]!;
}

const type = gadgets();

function decoded(body: JsonObject): { object: JsonObject; warnings: string[] } {
  const { object, unknownFields } = pruneUnknownFields(cloneJson(body), type.schema);
  return { object: type.strategy.setDefaults(object), warnings: unknownFields.map(unknownFieldMessage) };
}

interface Outcome {
  readonly object: JsonObject;
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly string[];
}

function perform({ body, live: liveSpec, spec }: RecordedCase): Outcome {
  const { strategy } = type;
  const { object: sent, warnings } = decoded(body);
  if (liveSpec === undefined) {
    const object = strategy.prepareForCreate(sent, context);
    return { object, problems: strategy.validateCreate(object, context), warnings };
  }
  const { object: live } = decoded({ ...body, status: {}, spec: liveSpec });
  delete live['status'];
  const part = strategy.parts.get('status')!;
  const rules = spec === undefined ? part : strategy;
  const object = rules.prepareForUpdate(sent, live, context);
  return { object, problems: rules.validateUpdate(object, live, context), warnings };
}

/** Causes have no order: kube-apiserver walks maps. */
function sorted(problems: readonly FieldProblem[]): string[] {
  return problems.map(({ field, reason, message }) => `${field} | ${reason} | ${message}`).sort();
}

describe('a custom resource', () => {
  it.each(recorded.cases)('is validated as recorded from kube-apiserver: $name', (each) => {
    const { object, problems, warnings } = perform(each);
    const { answer } = each;
    expect(sorted(problems)).toEqual(sorted(answer.causes ?? []));
    const told = (answer.warnings ?? []).map((text) => JSON.parse(text.replace(/^299 - /, '')) as string);
    expect([...warnings].sort()).toEqual(told.sort());
    if (answer.code < 300) expect(object['spec']).toEqual(answer.spec);
    if (answer.code === 201) expect(object).not.toHaveProperty('status');
  });

  it('is not created while its definition is being deleted', () => {
    const ending = gadgets(recorded.terminating.status);
    const attempt = (): unknown => ending.strategy.prepareForCreate({ metadata: { name: 'late' } }, context);
    expect(attempt).toThrow(recorded.terminating.answer.message);
  });

  it('cannot be read in another version while its conversion webhook is unreachable', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const names = { plural: 'gears', kind: 'Gear' };
    const spec = {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
      },
    };
    const text = 'dial tcp 127.0.0.1:1: connect: connection refused';
    const outbound = { call: () => Promise.reject(new Error(text)) };
    const crd = { metadata: { name: 'gears.example.com' }, spec, status: { acceptedNames: names } };
    const [, v2] = customResourceTypes(crd, { ...dependencies, outbound });
    const stored = { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'a' } };
    await expect(v2!.conversion.toServed([stored])).rejects.toThrow(recorded.conversion.message);
  });

  it('has the published schema of kube-apiserver, except for descriptions', () => {
    const published = customComponents(type, openApiSchemaOf(recorded.definition, 'v1'), { object: {}, list: {} });
    const gadget = published['com.example.v1.Gadget']!;
    expect(gadget).toEqual(plain(recorded.openApiV3['com.example.v1.Gadget']!));
    expect(definitionToV2(gadget)).toEqual(recorded.openApiV2['com.example.v1.Gadget']);
  });
});

/** References stand alone where there is no description beside them. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const { description: _, ...rest } = value;
  const [only] = Array.isArray(rest['allOf']) ? rest['allOf'] : [];
  if (Object.keys(rest).length === 1 && isObject(only) && '$ref' in only) return only;
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, plain(each)]));
}

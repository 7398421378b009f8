import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js';
import { PatchError } from '../patch/json-patch-error.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { strategicMergeSteps } from '../patch/strategic-merge-patch.js';
import { customResourceSchema } from '../schema/custom-resource-schema.js';
import { withDefaults } from '../schema/defaults.js';
import { patchSchemaOf } from '../schema/patch-schema.js';
import type { Schema } from '../schema/schema.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { AppliedObjectError, ApplyConflictError, applySteps } from './apply.js';
import { FieldSet } from './field-set.js';
import { trackUpdate, type Writer } from './track-update.js';

interface RecordedStep {
  readonly verb: 'create' | 'apply' | 'merge' | 'strategic' | 'json';
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly body: Json;
  readonly result: JsonObject;
}

interface Recorded {
  readonly widget: { spec: { versions: [{ schema: { openAPIV3Schema: JsonObject } }] } };
  readonly cases: readonly { name: string; kind: string; steps: readonly RecordedStep[] }[];
}

const recorded = JSON.parse(readFileSync(new URL('apply.recorded.json', import.meta.url), 'utf8')) as Recorded;
const surface = await loadSurface('1.36');
const objectMeta = surface.type('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')!;

const KINDS: Readonly<Record<string, { apiVersion: string; schema: Schema; isBuiltIn: boolean }>> = {
  ConfigMap: { apiVersion: 'v1', schema: surface.kind('', 'v1', 'ConfigMap')!.schema, isBuiltIn: true },
  Service: { apiVersion: 'v1', schema: surface.kind('', 'v1', 'Service')!.schema, isBuiltIn: true },
  Deployment: { apiVersion: 'apps/v1', schema: surface.kind('apps', 'v1', 'Deployment')!.schema, isBuiltIn: true },
  Widget: {
    apiVersion: 'example.com/v1',
    schema: customResourceSchema(recorded.widget.spec.versions[0].schema.openAPIV3Schema, objectMeta),
    isBuiltIn: false,
  },
};
/** As the strategies of the real server reset fields. */
const IGNORED: Readonly<Record<string, FieldSet>> = {
  '': FieldSet.of(['f:status']),
  status: FieldSet.of(['f:spec'], ['f:metadata', 'f:labels']),
};

function writerOf(kind: string, step: RecordedStep): Writer {
  const { subresource = '', manager } = step;
  return {
    ...KINDS[kind]!,
    manager,
    subresource,
    now: nowOf(step),
    ...(kind === 'ConfigMap' ? {} : { ignored: IGNORED[subresource]! }),
  };
}

/** The order of managers depends on their times: the time of the server is the latest that it wrote. */
function nowOf({ result }: RecordedStep): string {
  const entries = (result['metadata'] as { managedFields?: { time?: string }[] }).managedFields ?? [];
  return (
    entries
      .map(({ time }) => time ?? '')
      .sort()
      .at(-1) ?? '2030-01-01T00:00:00Z'
  );
}

function replay(kind: string, live: JsonObject | undefined, step: RecordedStep): JsonObject {
  const writer = writerOf(kind, step);
  const body = step.body as JsonObject;
  switch (step.verb) {
    case 'apply':
      return defaulted(runAtOnce(applySteps(live, body, { ...writer, force: step.force === true })), writer);
    case 'create':
      return trackUpdate(undefined, body, writer);
    case 'merge':
      return trackUpdate(live, applyMergePatch(live!, body), writer);
    case 'json':
      return trackUpdate(live, applyJsonPatch(live!, parseJsonPatch(step.body).operations) as JsonObject, writer);
    case 'strategic': {
      const schema = writer.isBuiltIn ? patchSchemaOf(writer.schema) : undefined;
      return trackUpdate(live, runAtOnce(strategicMergeSteps(live!, step.body, schema)), writer);
    }
  }
}

/** A server defaults what it applied; its managers stay as they are. */
function defaulted(object: JsonObject, { schema, isBuiltIn }: Writer): JsonObject {
  return withDefaults(object, schema, isBuiltIn ? 'built-in' : 'custom');
}

function refusal(error: unknown): JsonObject {
  if (error instanceof ApplyConflictError) {
    return { code: 409, reason: 'Conflict', message: error.message, details: error.details as unknown as Json };
  }
  if (error instanceof AppliedObjectError || error instanceof PatchError) {
    const code = { BadRequest: 400, InternalError: 500, Invalid: 422, RequestEntityTooLarge: 413 }[error.reason];
    return { code, message: error.message };
  }
  throw error;
}

/** What the server writes itself, and when. */
function comparable(object: JsonObject): JsonObject {
  const metadata = { ...(object['metadata'] as JsonObject) };
  for (const name of ['uid', 'resourceVersion', 'creationTimestamp', 'generation']) delete metadata[name];
  if (Array.isArray(metadata['managedFields'])) {
    metadata['managedFields'] = metadata['managedFields'].map((entry) => ({ ...(entry as JsonObject), time: '' }));
  }
  return withoutEmptyStructs({ ...object, metadata }) as JsonObject;
}

/** `{}` that Go always writes, and `resources: {}` among them. */
function withoutEmptyStructs(value: Json): Json {
  if (!isObject(value)) return Array.isArray(value) ? value.map(withoutEmptyStructs) : value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, each]) =>
          !(
            ['status', 'resources', 'securityContext', 'loadBalancer', 'strategy'].includes(key) &&
            isObject(each) &&
            Object.keys(withoutEmptyStructs(each) as JsonObject).length === 0
          ),
      )
      .map(([key, each]) => [key, key === 'fieldsV1' ? each : withoutEmptyStructs(each)]),
  );
}

describe('managed fields as recorded from a real kube-apiserver', () => {
  for (const { name, kind, steps } of recorded.cases) {
    describe(name, () => {
      let live: JsonObject | undefined;
      for (const [index, step] of steps.entries()) {
        const before = live;
        if (step.result['kind'] !== 'Status') live = step.result;
        it(`step ${index + 1}: ${step.verb} by ${step.manager}${step.subresource ? ` to ${step.subresource}` : ''}`, () => {
          let ours: JsonObject;
          try {
            ours = replay(kind, before, step);
          } catch (error) {
            expect(step.result).toMatchObject(refusal(error));
            return;
          }
          expect(comparable(ours)).toEqual(comparable(step.result));
        });
      }
    });
  }
});

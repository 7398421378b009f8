import { readFileSync } from 'node:fs';
import { cloneJson, isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { fill } from './fields.js';
import { asGoWrites, isPointerField, isZero } from './go-shape.js';
import { OTHER_DEFAULTS } from './other-defaults.js';
import { POD_DEFAULTS } from './pod-defaults.js';
import type { SurfaceTraits, TypeDefaults, TypeDefaultsTable } from './type-defaults.js';
import { WORKLOAD_DEFAULTS } from './workload-defaults.js';

/** Defaults that depend on other members, set by code. */
const TABLE: TypeDefaultsTable = { ...POD_DEFAULTS, ...WORKLOAD_DEFAULTS, ...OTHER_DEFAULTS };

/** Constant defaults that kube-apiserver sets by code and OpenAPI does not declare, by the name of the type. */
const DATA = new URL('./data/type-defaults.json', import.meta.url);

let recordedConstants: ReadonlyMap<string, JsonObject> | undefined;

function constantsOf(typeName: string): JsonObject | undefined {
  recordedConstants ??= new Map(Object.entries(JSON.parse(readFileSync(DATA, 'utf8')) as Record<string, JsonObject>));
  return recordedConstants.get(typeName);
}

/** The defaults of a schema and of the schemas inside it, computed once. */
interface DefaultsPlan {
  readonly byCode: TypeDefaults | undefined;
  readonly constants: JsonObject | undefined;
  /** The defaults that OpenAPI declares. */
  readonly declared: readonly (readonly [name: string, value: Json])[];
  /** Members with defaults inside them. */
  readonly below: readonly (readonly [name: string, schema: Schema])[];
  /** The schema of items or of the values of a map, where it has defaults. */
  readonly inner: Schema | undefined;
  /** No defaults at all. */
  readonly isIdle: boolean;
}

const plans = new WeakMap<Schema, DefaultsPlan>();

/** The object with Go's shape and with defaults, set from the outside in, as kube-apiserver returns it. */
export function withBuiltInDefaults(object: JsonObject, schema: Schema, surface: SurfaceTraits): JsonObject {
  const shaped = asGoWrites(object, schema);
  visit(shaped, schema, surface);
  return shaped;
}

function visit(value: Json | undefined, schema: Schema, surface: SurfaceTraits): void {
  const plan = planOf(schema);
  if (plan.isIdle) return;
  if (Array.isArray(value)) {
    if (plan.inner !== undefined) for (const item of value) visit(item, plan.inner, surface);
    return;
  }
  if (!isObject(value)) return;
  plan.byCode?.(value, surface);
  if (plan.constants !== undefined) fill(value, cloneJson(plan.constants));
  for (const [name, given] of plan.declared) {
    if (!Object.hasOwn(value, name)) setMember(value, name, cloneJson(given));
  }
  for (const [name, each] of plan.below) if (Object.hasOwn(value, name)) visit(value[name], each, surface);
  if (plan.inner !== undefined) for (const key of Object.keys(value)) visit(value[key], plan.inner, surface);
}

function planOf(schema: Schema): DefaultsPlan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, typeName } = schema;
  const byCode = typeName !== undefined && Object.hasOwn(TABLE, typeName) ? TABLE[typeName] : undefined;
  const declared = Object.keys(properties).flatMap((name) => declaredDefault(name, schema));
  const constants = typeName === undefined ? undefined : constantsOf(typeName);
  const inner = schema.values ?? schema.items;
  const below: (readonly [string, Schema])[] = [];
  const plan = { byCode, constants, declared, below, inner, isIdle: false };
  // Stored before it is complete, as not idle, because types may contain themselves.
  plans.set(schema, plan);
  for (const name of Object.keys(properties)) {
    if (!planOf(properties[name]!).isIdle) below.push([name, properties[name]!]);
  }
  const isInnerIdle = inner === undefined || planOf(inner).isIdle;
  if (isInnerIdle) plan.inner = undefined;
  plan.isIdle =
    byCode === undefined && constants === undefined && declared.length === 0 && below.length === 0 && isInnerIdle;
  return plan;
}

/** Empty defaults in OpenAPI describe the zero values that Go writes, except those of pointers. */
function declaredDefault(name: string, schema: Schema): (readonly [string, Json])[] {
  const value = schema.properties![name]!.default;
  if (value === undefined) return [];
  return !isZero(value) || isPointerField(schema, name) ? [[name, value]] : [];
}

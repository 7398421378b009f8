import { cloneJson, isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { asGoWrites, isPointerField } from './go-shape.js';
import { OTHER_DEFAULTS } from './other-defaults.js';
import { POD_DEFAULTS } from './pod-defaults.js';
import type { SurfaceTraits, TypeDefaults, TypeDefaultsTable } from './type-defaults.js';
import { WORKLOAD_DEFAULTS } from './workload-defaults.js';

const TABLE: TypeDefaultsTable = { ...POD_DEFAULTS, ...WORKLOAD_DEFAULTS, ...OTHER_DEFAULTS };

/** Where defaults can be below a schema, worked out once. */
interface DefaultsPlan {
  readonly byCode: TypeDefaults | undefined;
  /** By OpenAPI. */
  readonly declared: readonly (readonly [name: string, value: Json])[];
  /** Members below which there is something to do. */
  readonly below: readonly (readonly [name: string, schema: Schema])[];
  /** Of items, or of the values of a map. */
  readonly inner: Schema | undefined;
  readonly isIdle: boolean;
}

const plans = new WeakMap<Schema, DefaultsPlan>();

/** The object as kube-apiserver would answer it: its shape, then its defaults, from the outside in. */
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
  const inner = schema.values ?? schema.items;
  const below: (readonly [string, Schema])[] = [];
  const plan = { byCode, declared, below, inner, isIdle: false };
  // Entered before it is filled, as busy: types contain themselves.
  plans.set(schema, plan);
  for (const name of Object.keys(properties)) {
    if (!planOf(properties[name]!).isIdle) below.push([name, properties[name]!]);
  }
  const isInnerIdle = inner === undefined || planOf(inner).isIdle;
  if (isInnerIdle) plan.inner = undefined;
  plan.isIdle = byCode === undefined && declared.length === 0 && below.length === 0 && isInnerIdle;
  return plan;
}

/** OpenAPI's empty defaults only say what Go writes, but for pointers. */
function declaredDefault(name: string, schema: Schema): (readonly [string, Json])[] {
  const value = schema.properties![name]!.default;
  if (value === undefined) return [];
  const isEmpty =
    value === '' || value === 0 || value === false || (isObject(value) && Object.keys(value).length === 0);
  return !isEmpty || isPointerField(schema, name) ? [[name, value]] : [];
}

import { isObject, type Json, type JsonObject, member } from '../../api/json.js';
import type { Schema, SchemaLimits, SchemaType } from './schema.js';

/** Deeper schemas are refused: a definition must not make every later request recurse without end. */
export const SCHEMA_LEVELS_MAX = 200;

export class SchemaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaError';
  }
}

/**
 * The schema of a custom resource from the `openAPIV3Schema` of its definition (structural: no references). `objectMeta`
 * is the built-in type; a definition never describes it.
 */
export function customResourceSchema(openApi: JsonObject, objectMeta: Schema): Schema {
  const schema = convert(openApi, 0);
  return {
    ...schema,
    type: 'object',
    properties: { ...schema.properties, apiVersion: STRING, kind: STRING, metadata: objectMeta },
  };
}

const STRING: Schema = { type: 'string' };
const LIMITS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'pattern',
] as const;

function convert(openApi: Json, level: number): Schema {
  if (!isObject(openApi)) throw new SchemaError('a schema must be an object');
  if (level > SCHEMA_LEVELS_MAX) throw new SchemaError(`schema is deeper than ${SCHEMA_LEVELS_MAX} levels`);
  const { type, format, properties, additionalProperties, items } = openApi;
  const isIntOrString = openApi['x-kubernetes-int-or-string'] === true;
  return {
    ...(typeof type === 'string' && !isIntOrString ? { type: type as SchemaType } : {}),
    ...(isIntOrString ? { format: 'int-or-string' } : typeof format === 'string' ? { format } : {}),
    ...(isObject(properties) ? { properties: convertAll(properties, level) } : {}),
    ...(isObject(additionalProperties) ? { values: convert(additionalProperties, level + 1) } : {}),
    ...(additionalProperties === true ? { values: {} } : {}),
    ...(isObject(items) ? { items: convert(items, level + 1) } : {}),
    ...extensionsOf(openApi),
    ...limitsOf(openApi),
  };
}

function convertAll(properties: JsonObject, level: number): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, convert(each, level + 1)]));
}

function extensionsOf(openApi: JsonObject): Schema {
  const { nullable, default: value, enum: values, required } = openApi;
  const listType = openApi['x-kubernetes-list-type'];
  const listKeys = openApi['x-kubernetes-list-map-keys'];
  const mapType = openApi['x-kubernetes-map-type'];
  return {
    ...(listType === 'set' || listType === 'map' || listType === 'atomic' ? { listType } : {}),
    ...(Array.isArray(listKeys) ? { listKeys: listKeys as string[] } : {}),
    ...(mapType === 'atomic' || mapType === 'granular' ? { mapType } : {}),
    ...(openApi['x-kubernetes-preserve-unknown-fields'] === true ? { preserveUnknownFields: true } : {}),
    ...(openApi['x-kubernetes-embedded-resource'] === true ? { embeddedResource: true } : {}),
    ...(nullable === true ? { nullable } : {}),
    ...(value === undefined ? {} : { default: value }),
    ...(Array.isArray(values) ? { enum: values } : {}),
    ...(Array.isArray(required) ? { required: required as string[] } : {}),
  };
}

function limitsOf(openApi: JsonObject): Schema {
  const limits: Record<string, Json> = {};
  for (const name of LIMITS) {
    const value = member(openApi, name);
    if (typeof value === (name === 'pattern' ? 'string' : 'number') || value === true) limits[name] = value!;
  }
  return Object.keys(limits).length > 0 ? { limits: limits as SchemaLimits } : {};
}

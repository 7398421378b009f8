import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { groupVersionKind, LIST_META, mapMembers, OBJECT_META, reference } from './openapi-schema.js';

/** Members of a schema that are one schema, or a list of schemas. */
const ONE = ['items', 'additionalProperties', 'not'];
const MANY = ['allOf', 'anyOf', 'oneOf'];
const STRING: JsonObject = { type: 'string' };
/** Bound on nesting, above that of definitions; deeper levels become `{}`. */
const LEVELS_MAX = 250;

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
}

/** Returns `com.example.stable.v1.Widget`: the reversed group, as in all type names of OpenAPI. */
export function customTypeName({ group, version }: CustomKind, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

/** Makes the types of a custom resource and of its list. `schema` is its `openAPIV3Schema`. */
export function customComponents(custom: CustomKind, schema: JsonObject | undefined): Record<string, JsonObject> {
  const { group, version, kind, listKind } = custom;
  const objectSchema = completed(schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 0);
  const properties = member(objectSchema, 'properties');
  return {
    [customTypeName(custom, kind)]: {
      ...objectSchema,
      type: 'object',
      properties: { ...(isObject(properties) ? properties : {}), ...objectProperties() },
      'x-kubernetes-group-version-kind': [groupVersionKind(group, version, kind)],
    },
    [customTypeName(custom, listKind)]: {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: STRING,
        items: { type: 'array', items: reference(customTypeName(custom, kind)) },
        kind: STRING,
        metadata: reference(LIST_META),
      },
      'x-kubernetes-group-version-kind': [groupVersionKind(group, version, listKind)],
    },
  };
}

function objectProperties(): JsonObject {
  return { apiVersion: STRING, kind: STRING, metadata: reference(OBJECT_META) };
}

/** Adds standard OpenAPI for the constraints that `x-kubernetes-*` extensions imply. */
function completed(schema: JsonObject, level: number): JsonObject {
  if (level > LEVELS_MAX) return {};
  const below = (each: Json): Json => (isObject(each) ? completed(each, level + 1) : each);
  const result: JsonObject = { ...schema };
  const properties = member(schema, 'properties');
  if (isObject(properties)) result['properties'] = mapMembers(properties, below);
  for (const name of ONE) if (isObject(member(schema, name))) result[name] = below(schema[name]!);
  for (const name of MANY) {
    const list = member(schema, name);
    if (Array.isArray(list)) result[name] = list.map(below);
  }
  if (schema['x-kubernetes-int-or-string'] === true && result['anyOf'] === undefined) {
    result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  }
  return schema['x-kubernetes-embedded-resource'] === true ? embedded(result) : result;
}

function embedded(schema: JsonObject): JsonObject {
  const properties = member(schema, 'properties');
  const required = member(schema, 'required');
  return {
    ...schema,
    required: [...new Set([...(Array.isArray(required) ? required : []), 'kind', 'apiVersion'])],
    properties: { ...(isObject(properties) ? properties : {}), ...objectProperties() },
  };
}

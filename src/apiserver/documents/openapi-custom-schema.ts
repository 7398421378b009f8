import { isObject, type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
import type { Texts } from '../descriptions/descriptions-file.js';
import { described, groupVersionKind, LIST_META, mapMembers, OBJECT_META, reference } from './openapi-schema.js';

/** Members of a schema that are one schema, or a list of schemas. */
const ONE = ['items', 'additionalProperties', 'not'];
const MANY = ['allOf', 'anyOf', 'oneOf'];
const STRING: JsonObject = { type: 'string' };
/** Members of every object. */
const IDENTITY: JsonObject = { apiVersion: STRING, kind: STRING, metadata: reference(OBJECT_META) };
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

/** Texts for members that a definition does not describe itself. */
export interface CustomTexts {
  readonly object: Texts;
  readonly list: Texts;
}

/** Makes the types of a custom resource and of its list. `schema` is its `openAPIV3Schema`. */
export function customComponents(
  custom: CustomKind,
  schema: JsonObject | undefined,
  texts: CustomTexts,
): Record<string, JsonObject> {
  const { group, version, kind, listKind } = custom;
  const given = schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const objectSchema = completed(given, { level: 0, texts: texts.object });
  const list: JsonObject = {
    apiVersion: STRING,
    items: { type: 'array', items: reference(customTypeName(custom, kind)) },
    kind: STRING,
    metadata: reference(LIST_META),
  };
  return {
    [customTypeName(custom, kind)]: {
      ...objectSchema,
      type: 'object',
      properties: objectProperties(objectSchema, texts.object, ['spec', 'status']),
      'x-kubernetes-group-version-kind': [groupVersionKind(group, version, kind)],
    },
    [customTypeName(custom, listKind)]: {
      type: 'object',
      required: ['items'],
      properties: mapMembers(list, (each, name) => described(each as JsonObject, textAt(texts.list, name))),
      'x-kubernetes-group-version-kind': [groupVersionKind(group, version, listKind)],
    },
  };
}

/**
 * Returns the properties of an object of the API: those of the schema, and apiVersion, kind and metadata as every object has
 * them. These and the members of `more` get a text where the schema has none.
 */
function objectProperties(schema: JsonObject, texts: Texts, more: readonly string[] = []): JsonObject {
  const given = objectMember(schema, 'properties');
  const properties: JsonObject = { ...given, ...IDENTITY };
  for (const name of [...Object.keys(IDENTITY), ...more]) {
    const property = member(properties, name);
    if (!isObject(property)) continue;
    const ofDefinition = member(objectMember(given, name), 'description');
    const text = typeof ofDefinition === 'string' && ofDefinition !== '' ? ofDefinition : textAt(texts, name);
    properties[name] = described(property, text);
  }
  return properties;
}

function textAt(texts: Texts, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

interface Level {
  readonly level: number;
  /** For the members of embedded objects. */
  readonly texts: Texts;
}

/** Adds standard OpenAPI for the constraints that `x-kubernetes-*` extensions imply. */
function completed(schema: JsonObject, { level, texts }: Level): JsonObject {
  if (level > LEVELS_MAX) return {};
  const below = (each: Json): Json => (isObject(each) ? completed(each, { level: level + 1, texts }) : each);
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
  return schema['x-kubernetes-embedded-resource'] === true ? embedded(result, texts) : result;
}

function embedded(schema: JsonObject, texts: Texts): JsonObject {
  const required = member(schema, 'required');
  return {
    ...schema,
    required: [...new Set([...(Array.isArray(required) ? required : []), 'kind', 'apiVersion'])],
    properties: objectProperties(schema, texts),
  };
}

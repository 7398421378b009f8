import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import type { TypeNode, TypeObject } from './surface-file.js';

const REFERENCE_PREFIX = '#/components/schemas/';
/** In OpenAPI only prose tells that this is a number with a suffix. */
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
/** Types of every group (DeleteOptions, WatchEvent) name dozens of kinds, which no one looks up. */
const KINDS_MAX = 8;

/** The types of all OpenAPI v3 documents of a server. A type that several documents hold is the same in each. */
export function convertOpenApi(documents: readonly JsonObject[]): Record<string, TypeNode> {
  const types: Record<string, TypeNode> = {};
  for (const document of documents) {
    const components = member(document, 'components');
    const schemas = isObject(components) ? member(components, 'schemas') : undefined;
    if (!isObject(schemas)) continue;
    for (const [name, schema] of Object.entries(schemas)) {
      if (isObject(schema)) types[name] = name === QUANTITY ? 'string/quantity' : convertType(schema);
    }
  }
  return Object.fromEntries(Object.entries(types).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function convertType(schema: JsonObject): TypeNode {
  const kinds = kindsOf(schema);
  const node = convertSchema(schema);
  if (kinds.length === 0) return node;
  return { ...(typeof node === 'string' ? { is: node } : node), kinds };
}

function convertSchema(schema: JsonObject): TypeNode {
  const shape = shapeOf(schema);
  const extras = extrasOf(schema);
  const isText = shape.is !== undefined && Object.keys(shape).length === 1 && Object.keys(extras).length === 0;
  return isText ? shape.is : { ...shape, ...extras };
}

function shapeOf(schema: JsonObject): TypeObject {
  const reference = referenceOf(schema);
  if (reference !== undefined) return { is: `#${reference}` };
  const { type, format } = schema;
  if (format === 'int-or-string') return { is: 'any/int-or-string' };
  if (type === 'array') return listOf(schema);
  const { properties, additionalProperties } = schema;
  if (isObject(properties)) {
    const fields = Object.entries(properties).map(([name, each]) => [name, convertSchema(each as JsonObject)] as const);
    return { fields: Object.fromEntries(fields) };
  }
  if (isObject(additionalProperties)) {
    const values = convertSchema(withoutDefault(additionalProperties));
    return typeof values === 'string' ? { is: `{}${values}` } : { is: 'object', values };
  }
  if (typeof type !== 'string') return { is: 'any' };
  return { is: typeof format === 'string' ? `${type}/${format}` : type };
}

function listOf(schema: JsonObject): TypeObject {
  const { items } = schema;
  if (!isObject(items)) return { is: '[]any' };
  const node = convertSchema(withoutDefault(items));
  return typeof node === 'string' ? { is: `[]${node}` } : { is: 'array', items: node };
}

/** The default of an item or of a map's value has no meaning: it is there or it is not. */
function withoutDefault({ default: _, ...meaningful }: JsonObject): JsonObject {
  return meaningful;
}

function referenceOf(schema: JsonObject): string | undefined {
  const { allOf } = schema;
  const holder = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? allOf[0] : schema;
  const reference = holder['$ref'];
  return typeof reference === 'string' && reference.startsWith(REFERENCE_PREFIX)
    ? reference.slice(REFERENCE_PREFIX.length)
    : undefined;
}

function extrasOf(schema: JsonObject): TypeObject {
  const extras: Record<string, Json> = {};
  const take = (name: string, from: string): void => {
    const value = member(schema, from);
    if (value !== undefined && value !== false && !jsonEqual(value, [])) extras[name] = value;
  };
  take('listType', 'x-kubernetes-list-type');
  take('listKeys', 'x-kubernetes-list-map-keys');
  take('mapType', 'x-kubernetes-map-type');
  take('patchStrategy', 'x-kubernetes-patch-strategy');
  take('patchMergeKey', 'x-kubernetes-patch-merge-key');
  take('preserveUnknownFields', 'x-kubernetes-preserve-unknown-fields');
  take('embeddedResource', 'x-kubernetes-embedded-resource');
  take('enum', 'enum');
  take('required', 'required');
  if (member(schema, 'default') !== undefined) extras['default'] = schema['default']!;
  return extras as TypeObject;
}

function kindsOf(schema: JsonObject): string[] {
  const kinds = member(schema, 'x-kubernetes-group-version-kind');
  if (!Array.isArray(kinds) || kinds.length > KINDS_MAX) return [];
  return kinds.filter(isObject).map(({ group, version, kind }) => `${group}/${version}/${kind}`);
}

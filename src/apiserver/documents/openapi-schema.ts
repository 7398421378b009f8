import { isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';
import type { TypeTexts } from '../descriptions/descriptions-file.js';
import type { TypeNode, TypeObject } from '../surfaces/surface-file.js';

export const COMPONENTS = '#/components/schemas/';
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
export const OBJECT_META = `${META}ObjectMeta`;
export const LIST_META = `${META}ListMeta`;
/** Methods of a path, in the order in which they are written. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
export const SECURITY = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };

/** Types of a surface that are more than a type and a format in OpenAPI. */
const FORMS: Readonly<Record<string, JsonObject>> = {
  any: {},
  'any/int-or-string': { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  'string/quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
};

/** Members in OpenAPI's spelling and order. */
const EXTRAS: readonly (readonly [keyof TypeObject, string])[] = [
  ['default', 'default'],
  ['enum', 'enum'],
  ['embeddedResource', 'x-kubernetes-embedded-resource'],
  ['listKeys', 'x-kubernetes-list-map-keys'],
  ['listType', 'x-kubernetes-list-type'],
  ['mapType', 'x-kubernetes-map-type'],
  ['patchMergeKey', 'x-kubernetes-patch-merge-key'],
  ['patchStrategy', 'x-kubernetes-patch-strategy'],
  ['preserveUnknownFields', 'x-kubernetes-preserve-unknown-fields'],
];

export function reference(typeName: string): JsonObject {
  return { $ref: `${COMPONENTS}${typeName}` };
}

/** Adds a text. A reference is wrapped, because in OpenAPI v3 it must not have siblings. */
export function described(schema: JsonObject, text: string | undefined): JsonObject {
  if (text === undefined) return schema;
  return schema['$ref'] === undefined ? { ...schema, description: text } : { allOf: [schema], description: text };
}

/** Adds texts to a type and to those of its fields that have one. */
export function describedType(schema: JsonObject, { text, fields = {} }: TypeTexts): JsonObject {
  const properties = member(schema, 'properties');
  const result = described(schema, text);
  if (!isObject(properties)) return result;
  const textOf = (name: string): string | undefined => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  return {
    ...result,
    properties: mapMembers(properties, (field, name) => described(field as JsonObject, textOf(name))),
  };
}

/** Converts a built-in type to OpenAPI v3, without descriptions. */
export function typeSchema(node: TypeNode): JsonObject {
  return typeof node === 'string' ? textSchema(node) : objectSchema(node);
}

function textSchema(text: string): JsonObject {
  const form = Object.hasOwn(FORMS, text) ? FORMS[text] : undefined;
  if (form !== undefined) return form;
  if (text.startsWith('#')) return reference(text.slice(1));
  if (text.startsWith('[]')) return { type: 'array', items: textSchema(text.slice(2)) };
  if (text.startsWith('{}')) return { type: 'object', additionalProperties: textSchema(text.slice(2)) };
  const [type, format] = text.split('/', 2);
  return { ...(type === 'any' ? {} : { type: type! }), ...(format === undefined ? {} : { format }) };
}

function objectSchema(node: TypeObject): JsonObject {
  const base = node.is === undefined ? { type: 'object' } : textSchema(node.is);
  const extras = extrasOf(node);
  // In OpenAPI v3 a reference must not have siblings.
  const isPlain = base['$ref'] === undefined || Object.keys(extras).length === 0;
  const schema: JsonObject = isPlain ? { ...base } : { allOf: [base] };
  if (node.required !== undefined) schema['required'] = [...node.required];
  if (node.fields !== undefined) schema['properties'] = mapMembers(node.fields, typeSchema);
  if (node.items !== undefined) schema['items'] = typeSchema(node.items);
  if (node.values !== undefined) schema['additionalProperties'] = typeSchema(node.values);
  return { ...schema, ...extras };
}

function extrasOf(node: TypeObject): JsonObject {
  const extras: JsonObject = {};
  for (const [name, written] of EXTRAS) {
    const value = node[name];
    if (value !== undefined) extras[written] = value as Json;
  }
  if (node.kinds !== undefined) extras['x-kubernetes-group-version-kind'] = node.kinds.map(kindObject);
  return extras;
}

function kindObject(text: string): JsonObject {
  const [group = '', version = '', kind = ''] = text.split('/');
  return groupVersionKind(group, version, kind);
}

export function groupVersionKind(group: string, version: string, kind: string): JsonObject {
  return { group, kind, version };
}

/** Collects the types to which a document refers. */
export function referencesIn(value: Json, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) for (const each of value) referencesIn(each, found);
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const each = value[key]!;
      if (key === '$ref' && typeof each === 'string' && each.startsWith(COMPONENTS)) {
        found.add(each.slice(COMPONENTS.length));
      } else referencesIn(each, found);
    }
  }
  return found;
}

/** Returns an object with its members sorted by name. */
export function byName(entries: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
}

export function mapMembers<T>(
  members: Readonly<Record<string, T>>,
  change: (value: T, name: string) => Json,
): JsonObject {
  const changed: JsonObject = {};
  for (const name of Object.keys(members)) setMember(changed, name, change(members[name]!, name));
  return changed;
}

import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { goJsonInOrder } from '../schema/go-values.js';
import type { DefinitionVersion, SharedParts } from './definition.js';

/** The members of a schema on the wire, in the order of the Go type of kube-apiserver. */
const SCHEMA_MEMBERS = `id $schema $ref description type nullable format title default maximum exclusiveMaximum
  minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf enum maxProperties
  minProperties required items allOf oneOf anyOf not properties additionalProperties patternProperties dependencies
  additionalItems definitions externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource
  x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type
  x-kubernetes-validations`.split(/\s+/);

/** Zero values of the members that are no pointers in Go; that of all others is null. */
const ZERO_VALUES: ReadonlyMap<string, Json> = new Map<string, Json>([
  ...['id', '$schema', 'description', 'type', 'format', 'title', 'pattern'].map((name) => [name, ''] as const),
  ...['nullable', 'exclusiveMaximum', 'exclusiveMinimum', 'uniqueItems'].map((name) => [name, false] as const),
  ...['x-kubernetes-embedded-resource', 'x-kubernetes-int-or-string'].map((name) => [name, false] as const),
]);

/** Returns the name of a member in Go: `XListType` for `x-kubernetes-list-type`. */
function goName(name: string): string {
  if (name === 'id') return 'ID';
  const words = name.replace(/^\$/, '').replace('x-kubernetes', 'x').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Returns the Go names of the members of a schema that are not zero. */
export function saidMembers(openApi: JsonObject): string[] {
  return SCHEMA_MEMBERS.filter((name) => {
    const value = member(openApi, name);
    const isZero = value === undefined || value === null || value === ZERO_VALUES.get(name);
    return !isZero && !(Array.isArray(value) && value.length === 0);
  }).map(goName);
}

/** Returns a schema as messages of kube-apiserver show it: the JSON of its Go type. */
export function shownSchema(openApi: JsonObject): string {
  return goJsonInOrder(internalSchema(openApi));
}

/** Returns all versions in the same form, without the parts that are equal in all of them. */
export function shownVersions(versions: readonly DefinitionVersion[], shared: SharedParts): string {
  const shown = versions.map((each) => ({
    Name: each.name,
    Served: each.isServed,
    Storage: each.isStorage,
    Deprecated: each.isDeprecated,
    DeprecationWarning: each.deprecationWarning ?? null,
    Schema:
      shared.validation || each.validation === undefined
        ? null
        : { OpenAPIV3Schema: each.openApi === undefined ? null : internalSchema(each.openApi) },
    Subresources: shared.subresources ? null : internalSubresources(each.subresources),
    AdditionalPrinterColumns: shared.columns || each.columns.length === 0 ? null : each.columns.map(internalColumn),
    SelectableFields:
      shared.selectablePaths || each.selectablePaths.length === 0
        ? null
        : each.selectablePaths.map((JSONPath) => ({ JSONPath })),
  }));
  return goJsonInOrder(shown as Json);
}

function internalSchema(openApi: JsonObject): JsonObject {
  const shown: JsonObject = {};
  for (const name of SCHEMA_MEMBERS) {
    const value = member(openApi, name);
    const isZero = value === undefined || value === null;
    shown[goName(name)] = isZero ? (ZERO_VALUES.get(name) ?? null) : internalMember(name, value);
  }
  return shown;
}

const WITH_LISTS = ['allOf', 'oneOf', 'anyOf'];
const WITH_MAPS = ['properties', 'patternProperties', 'definitions'];
const WITH_ONE = ['items', 'not', 'additionalProperties', 'additionalItems'];

function internalMember(name: string, value: Json): Json {
  if (WITH_LISTS.includes(name) && Array.isArray(value))
    return value.map((each) => (isObject(each) ? internalSchema(each) : each));
  if (WITH_MAPS.includes(name) && isObject(value)) {
    const names = Object.keys(value).sort();
    return Object.fromEntries(names.map((each) => [each, isObject(value[each]) ? internalSchema(value[each]) : {}]));
  }
  if (!WITH_ONE.includes(name)) return value;
  const schema = isObject(value) ? internalSchema(value) : null;
  if (name === 'not') return schema;
  if (name === 'items') {
    const schemas = Array.isArray(value) ? value.map((each) => (isObject(each) ? internalSchema(each) : {})) : null;
    return { Schema: schema, JSONSchemas: schemas };
  }
  return { Allows: value !== false, Schema: schema };
}

function internalSubresources(subresources: JsonObject | undefined): Json {
  if (subresources === undefined) return null;
  const scale = member(subresources, 'scale');
  return {
    Status: isObject(member(subresources, 'status')) ? {} : null,
    Scale: isObject(scale)
      ? {
          SpecReplicasPath: scale['specReplicasPath'] ?? '',
          StatusReplicasPath: scale['statusReplicasPath'] ?? '',
          LabelSelectorPath: scale['labelSelectorPath'] ?? null,
        }
      : null,
  };
}

function internalColumn(column: JsonObject): JsonObject {
  return {
    Name: column['name'] ?? '',
    Type: column['type'] ?? '',
    Format: column['format'] ?? '',
    Description: column['description'] ?? '',
    Priority: column['priority'] ?? 0,
    JSONPath: column['jsonPath'] ?? '',
  };
}

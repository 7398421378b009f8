import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { goJsonInOrder } from '../schema/go-values.js';
import type { DefinitionVersion, SharedParts } from './definition.js';

/** Members of a schema: their names in the Go type of kube-apiserver, on the wire, and their zero values. */
const SCHEMA_MEMBERS: readonly (readonly [
  shown: string,
  name: string,
  nothing: Json,
  kind?: 'one' | 'list' | 'map',
])[] = [
  ['ID', 'id', ''],
  ['Schema', '$schema', ''],
  ['Ref', '$ref', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
  ['Items', 'items', null, 'one'],
  ['AllOf', 'allOf', null, 'list'],
  ['OneOf', 'oneOf', null, 'list'],
  ['AnyOf', 'anyOf', null, 'list'],
  ['Not', 'not', null, 'one'],
  ['Properties', 'properties', null, 'map'],
  ['AdditionalProperties', 'additionalProperties', null, 'one'],
  ['PatternProperties', 'patternProperties', null, 'map'],
  ['Dependencies', 'dependencies', null],
  ['AdditionalItems', 'additionalItems', null, 'one'],
  ['Definitions', 'definitions', null, 'map'],
  ['ExternalDocs', 'externalDocs', null],
  ['Example', 'example', null],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null],
];

/** Returns the Go names of the members of a schema that are not zero. */
export function saidMembers(openApi: JsonObject): string[] {
  return SCHEMA_MEMBERS.filter(([, name, nothing]) => {
    const value = member(openApi, name);
    const isEmpty = value === undefined || value === null || value === nothing;
    return !isEmpty && !(Array.isArray(value) && value.length === 0);
  }).map(([shown]) => shown);
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
  for (const [name, wire, nothing, kind] of SCHEMA_MEMBERS) {
    const value = member(openApi, wire);
    shown[name] = value === undefined || value === null ? nothing : internalMember(wire, value, kind);
  }
  return shown;
}

function internalMember(name: string, value: Json, kind: 'one' | 'list' | 'map' | undefined): Json {
  if (kind === 'list' && Array.isArray(value))
    return value.map((each) => (isObject(each) ? internalSchema(each) : each));
  if (kind === 'map' && isObject(value)) {
    const names = Object.keys(value).sort();
    return Object.fromEntries(names.map((each) => [each, isObject(value[each]) ? internalSchema(value[each]) : {}]));
  }
  if (kind !== 'one') return value;
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

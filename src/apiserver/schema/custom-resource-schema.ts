import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { ANY, type Schema, type SchemaLimits, type SchemaRule, type SchemaType } from './schema.js';

/** Bound on the depth of a schema, and so on the recursion of every request for its resource. */
export const SCHEMA_LEVELS_MAX = 200;

export class SchemaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaError';
  }
}

/**
 * The schema of a custom resource from the `openAPIV3Schema` of its definition (structural: no references). `objectMeta`
 * is the built-in type; a definition can only restrict it.
 */
export function customResourceSchema(openApi: JsonObject, objectMeta: Schema): Schema {
  const schema = convert(openApi, { level: 0, objectMeta, isNested: false });
  return { ...schema, type: 'object', properties: withIdentity(schema.properties, openApi, objectMeta) };
}

/** The schema of a part of a custom resource. */
export function partSchema(openApi: JsonObject, objectMeta: Schema): Schema {
  return convert(openApi, { level: 0, objectMeta, isNested: false });
}

interface Place {
  readonly level: number;
  readonly objectMeta: Schema;
  /** Below `allOf` and its like, where nothing is structure. */
  readonly isNested: boolean;
}

const STRING: Schema = { type: 'string' };
/** Values of `additionalProperties: true`: anything, but objects among them are emptied. */
const HOLLOW: { properties: Record<string, Schema>; items?: Schema } = { properties: {} };
HOLLOW.items = HOLLOW;

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

function convert(openApi: Json, place: Place): Schema {
  if (!isObject(openApi)) throw new SchemaError('a schema must be an object');
  if (place.level > SCHEMA_LEVELS_MAX) throw new SchemaError(`schema is deeper than ${SCHEMA_LEVELS_MAX} levels`);
  const { type, format } = openApi;
  const isIntOrString = openApi['x-kubernetes-int-or-string'] === true;
  return {
    ...(typeof type === 'string' && type !== '' && !isIntOrString ? { type: type as SchemaType } : {}),
    ...(isIntOrString ? { format: 'int-or-string' } : typeof format === 'string' && format !== '' ? { format } : {}),
    ...structureOf(openApi, place),
    ...extensionsOf(openApi),
    ...limitsOf(openApi),
    ...alternativesOf(openApi, place),
  };
}

function structureOf(openApi: JsonObject, place: Place): Schema {
  const { properties, additionalProperties, items } = openApi;
  const below = { ...place, level: place.level + 1 };
  const declared = isObject(properties) ? convertAll(properties, below) : undefined;
  const isEmbedded = openApi['x-kubernetes-embedded-resource'] === true;
  const isClosed =
    !place.isNested && openApi['type'] === 'object' && additionalProperties === undefined && declared === undefined;
  return {
    ...(declared !== undefined && !isEmbedded ? { properties: declared } : {}),
    ...(isEmbedded ? { properties: withIdentity(declared, openApi, place.objectMeta) } : {}),
    // An object without declared members has none, unless it preserves unknown fields.
    ...(isClosed && !isEmbedded && openApi['x-kubernetes-preserve-unknown-fields'] !== true ? { properties: {} } : {}),
    ...(isObject(additionalProperties) ? { values: convert(additionalProperties, below) } : {}),
    ...(typeof additionalProperties === 'boolean' ? { values: HOLLOW } : {}),
    ...(additionalProperties === false ? { forbidsOthers: true } : {}),
    ...(isObject(items) ? { items: convert(items, below) } : {}),
  };
}

/** Adds `apiVersion`, `kind` and `metadata`, which a whole object always has. */
function withIdentity(
  declared: Readonly<Record<string, Schema>> | undefined,
  openApi: JsonObject,
  objectMeta: Schema,
): Record<string, Schema> {
  const properties = isObject(openApi['properties']) ? openApi['properties'] : {};
  const metadata = member(properties, 'metadata');
  return {
    ...declared,
    apiVersion: (declared !== undefined && Object.hasOwn(declared, 'apiVersion') && declared['apiVersion']) || STRING,
    kind: (declared !== undefined && Object.hasOwn(declared, 'kind') && declared['kind']) || STRING,
    metadata:
      isObject(metadata) && declared !== undefined
        ? Object.assign(Object.create(objectMeta) as Schema, { restrictions: declared['metadata'] ?? ANY })
        : objectMeta,
  };
}

function convertAll(properties: JsonObject, place: Place): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, convert(each, place)]));
}

function alternativesOf(openApi: JsonObject, place: Place): Schema {
  const below = { ...place, level: place.level + 1, isNested: true };
  const all = (name: string): Schema[] | undefined => {
    const value = member(openApi, name);
    return Array.isArray(value) && value.length > 0 ? value.map((each) => convert(each, below)) : undefined;
  };
  const [allOf, anyOf, oneOf] = [all('allOf'), all('anyOf'), all('oneOf')];
  return {
    ...(allOf === undefined ? {} : { allOf }),
    ...(anyOf === undefined ? {} : { anyOf }),
    ...(oneOf === undefined ? {} : { oneOf }),
    ...(isObject(openApi['not']) ? { not: convert(openApi['not'], below) } : {}),
  };
}

function extensionsOf(openApi: JsonObject): Schema {
  const { nullable, default: value, enum: values, required } = openApi;
  const listType = openApi['x-kubernetes-list-type'];
  const listKeys = openApi['x-kubernetes-list-map-keys'];
  const mapType = openApi['x-kubernetes-map-type'];
  const rules = openApi['x-kubernetes-validations'];
  return {
    ...(listType === 'set' || listType === 'map' || listType === 'atomic' ? { listType } : {}),
    ...(Array.isArray(listKeys) ? { listKeys: listKeys as string[] } : {}),
    ...(mapType === 'atomic' || mapType === 'granular' ? { mapType } : {}),
    ...(openApi['x-kubernetes-preserve-unknown-fields'] === true ? { preserveUnknownFields: true } : {}),
    ...(openApi['x-kubernetes-embedded-resource'] === true ? { embeddedResource: true } : {}),
    ...(nullable === true ? { nullable } : {}),
    ...(value === undefined || value === null ? {} : { default: value }),
    ...(Array.isArray(values) && values.length > 0 ? { enum: values } : {}),
    ...(Array.isArray(required) && required.length > 0 ? { required: required as string[] } : {}),
    ...(Array.isArray(rules) && rules.length > 0 ? { rules: rules as unknown as SchemaRule[] } : {}),
  };
}

function limitsOf(openApi: JsonObject): Schema {
  const limits: Record<string, Json> = {};
  for (const name of LIMITS) {
    const value = member(openApi, name);
    if (value === '') continue;
    if (typeof value === (name === 'pattern' ? 'string' : 'number') || value === true) limits[name] = value!;
  }
  return Object.keys(limits).length > 0 ? { limits: limits as SchemaLimits } : {};
}

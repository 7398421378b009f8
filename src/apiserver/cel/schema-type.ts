import type { Schema } from '../schema/schema.js';
import type { CelField, CelType, Declared } from './cel-types.js';
import { escapeName } from './names.js';

/** Bound on the size of a request, and so of every value in it. */
export const REQUEST_BYTES_MAX = 3 * 1024 * 1024;

/**
 * The type of a part of a custom resource in rules, with the largest size that a request can hold.
 * Undefined for values that rules cannot access: those without a type, and lists and maps of them. For
 * a custom resource or an embedded one (`isRoot`) rules can access only the name in its metadata.
 */
export function celTypeOf(schema: Schema, isRoot = false, name = 'selfType'): CelType | undefined {
  if (schema.format === 'int-or-string') return scalar('dyn', 'dyn', 1, textMax(schema));
  switch (schema.type) {
    case 'array':
      return listType(schema, name);
    case 'object':
      return isMap(schema) ? mapType(schema, name) : structType(schema, isRoot, name);
    case 'string':
      return stringType(schema);
    case 'boolean':
      return scalar('bool', 'bool', 4, 0);
    case 'number':
      return scalar('double', 'double', 1, 0);
    case 'integer':
      return scalar('int', 'int', 1, 0);
    default:
      return undefined;
  }
}

function scalar(
  kind: CelType['kind'],
  name: string,
  bytesMin: number,
  elementsMax: number,
  more: Partial<Declared> = {},
): CelType {
  return { kind, name, params: [], declared: { elementsMax, bytesMin, ...more } };
}

/** An object with `additionalProperties: true` has no members that rules could access. */
function isMap({ values }: Schema): boolean {
  if (values === undefined) return false;
  const isHollow = values.properties !== undefined && Object.keys(values.properties).length === 0;
  return values.type !== undefined || values.format !== undefined || !isHollow;
}

function listType(schema: Schema, name: string): CelType | undefined {
  const { items, listType: kind, listKeys } = schema;
  const item = items === undefined ? undefined : celTypeOf(items, items.embeddedResource === true, `${name}.@idx`);
  if (item === undefined) return undefined;
  const fitting = Math.floor((REQUEST_BYTES_MAX - 2) / (item.declared!.bytesMin + 1));
  const declared: Declared = {
    elementsMax: Math.max(0, schema.limits?.maxItems ?? fitting),
    bytesMin: 2,
    ...(kind === 'set' || kind === 'map' ? { listType: kind } : {}),
    ...(listKeys === undefined ? {} : { listKeys }),
  };
  return { kind: 'list', name: 'list', params: [item], declared };
}

function mapType({ values, limits }: Schema, name: string): CelType | undefined {
  const value = celTypeOf(values!, values!.embeddedResource === true, `${name}.@elem`);
  if (value === undefined) return undefined;
  const fitting = Math.floor((REQUEST_BYTES_MAX - 2) / (value.declared!.bytesMin + 6));
  const declared = { elementsMax: Math.max(0, limits?.maxProperties ?? fitting), bytesMin: 2 };
  return { kind: 'map', name: 'map', params: [scalar('string', 'string', 2, 0), value], declared };
}

function structType(schema: Schema, isRoot: boolean, name: string): CelType {
  const properties = isRoot ? { ...schema.properties, ...ROOT_PROPERTIES } : (schema.properties ?? {});
  const fields = new Map<string, CelField>();
  let bytesMin = 2;
  for (const [property, each] of Object.entries(properties)) {
    const escaped = escapeName(property);
    const type = celTypeOf(each, each.embeddedResource === true, `${name}.${escaped ?? property}`);
    if (type === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, { name: property, type });
    if (escaped === `__${property}__`) fields.set(property, { name: property, type, isAlias: true });
    if (schema.required?.includes(property) === true && each.default === undefined) {
      bytesMin += Buffer.byteLength(property) + type.declared!.bytesMin + 4;
    }
  }
  return { kind: 'struct', name, params: [], fields, declared: { elementsMax: 0, bytesMin } };
}

const TEXT: Schema = { type: 'string' };
const ROOT_PROPERTIES: Readonly<Record<string, Schema>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
};

function stringType(schema: Schema): CelType {
  switch (schema.format) {
    case 'byte':
      return scalar('bytes', 'bytes', 2, Math.max(0, schema.limits?.maxLength ?? REQUEST_BYTES_MAX - 2));
    case 'duration':
      return scalar('duration', 'duration', 3, 32);
    case 'date':
      return scalar('timestamp', 'timestamp', 12, 12, { isDate: true });
    case 'date-time':
      return scalar('timestamp', 'timestamp', 21, 32);
    default:
      return scalar('string', 'string', 2, textMax(schema));
  }
}

/** The largest size of a text in bytes; a character may take four. */
function textMax({ limits, enum: values, format }: Schema): number {
  if (limits?.maxLength !== undefined) return Math.max(0, limits.maxLength) * 4;
  if (values === undefined || values.length === 0 || format === 'int-or-string') return REQUEST_BYTES_MAX - 2;
  return Math.max(0, ...values.map((each) => (typeof each === 'string' ? Buffer.byteLength(each) : 0)));
}

import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { goJsonKind } from '../values/go-text.js';
import { parseQuantity } from '../values/quantity.js';
import { ANY, memberSchema, type Schema } from './schema.js';

/**
 * What Go's JSON decoder would say of an object of a built-in kind, or undefined when it would take it: the text after
 * `X in version "v1" cannot be handled as a X: `. Only the first mistake counts. Types that OpenAPI does not name (a
 * named string type) are called by what they are.
 */
export function goDecodeProblem(object: JsonObject, schema: Schema): string | undefined {
  return visit(object, schema, { struct: schema, name: '', above: undefined });
}

/** Where a value stands; put into words only where there is a mistake to tell of. */
interface Place {
  /** The Go type that the last field belongs to. */
  readonly struct: Schema;
  /** The last field; the first place of all has none. */
  readonly name: string;
  readonly above: Place | undefined;
}

function visit(value: Json, schema: Schema, place: Place): string | undefined {
  if (value === null) return undefined;
  if (schema.format === 'int-or-string') return visitText(value, schema, place);
  if (schema.type === undefined) return undefined;
  switch (schema.type) {
    case 'object':
      return isObject(value) ? visitMembers(value, schema, place) : mismatch(value, schema, place);
    case 'array':
      if (!Array.isArray(value)) return mismatch(value, schema, place);
      return visitItems(value, schema.items ?? ANY, place);
    case 'string':
      return visitText(value, schema, place);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : mismatch(value, schema, place);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) && isInRange(value, schema)
        ? undefined
        : mismatch(value, schema, place);
    case 'number':
      return typeof value === 'number' ? undefined : mismatch(value, schema, place);
  }
}

/** Each format of a string has its decoder in Go, whose errors do not name the field. */
function visitText(value: Json, schema: Schema, place: Place): string | undefined {
  switch (schema.format) {
    case 'quantity':
      return quantityProblem(value);
    case 'int-or-string':
      if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return undefined;
      return mismatch(value, { type: 'integer', format: 'int32' }, place);
    case 'byte':
      return typeof value === 'string' ? base64Problem(value) : mismatch(value, schema, place);
    case 'date-time':
      return typeof value === 'string' ? timeProblem(value, schema) : mismatch(value, schema, place);
    default:
      return typeof value === 'string' ? undefined : mismatch(value, schema, place);
  }
}

function quantityProblem(value: Json): string | undefined {
  // Numbers are written as quantities by many.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  try {
    parseQuantity(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Go's decoder skips line ends, and demands everything else to be exact. */
function base64Problem(text: string): string | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  const digits = plain.replace(/={1,2}$/, '');
  const at = digits.search(/[^A-Za-z0-9+/]/);
  if (at >= 0) return `illegal base64 data at input byte ${at}`;
  return plain.length % 4 === 0 ? undefined : `illegal base64 data at input byte ${plain.length - (plain.length % 4)}`;
}

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function timeProblem(text: string, { typeName }: Schema): string | undefined {
  if (TIME.test(text) && !Number.isNaN(Date.parse(text))) return undefined;
  const layout = typeName?.endsWith('.MicroTime') ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  return `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(text)} as "2006"`;
}

function visitMembers(object: JsonObject, schema: Schema, place: Place): string | undefined {
  const isStruct = schema.properties !== undefined;
  for (const name of Object.keys(object)) {
    const each = memberSchema(schema, name);
    if (each === undefined) continue;
    // The keys of a map are not part of the path.
    const below = isStruct ? { struct: schema, name, above: place } : place;
    const problem = visit(object[name]!, each, below);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function visitItems(items: readonly Json[], schema: Schema, place: Place): string | undefined {
  for (const item of items) {
    const problem = visit(item, schema, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function mismatch(value: Json, schema: Schema, place: Place): string {
  const isNumber = typeof value === 'number' && schema.type === 'integer';
  const found = isNumber ? `number ${value}` : goJsonKind(value);
  const field = [shortName(place.struct), ...pathOf(place)].join('.');
  return `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType(schema)}`;
}

function pathOf({ name, above }: Place): string[] {
  return above === undefined ? [] : [...pathOf(above), name];
}

function isInRange(value: number, { format }: Schema): boolean {
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

function goType(schema: Schema): string {
  switch (schema.type) {
    case 'array':
      return `[]${goType(schema.items ?? {})}`;
    case 'object':
      return schema.typeName === undefined ? `map[string]${goType(schema.values ?? {})}` : goTypeName(schema.typeName);
    case 'integer':
      return schema.format ?? 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return 'interface {}';
  }
}

/** `io.k8s.api.core.v1.Container` is `v1.Container` in Go. */
function goTypeName(typeName: string): string {
  return typeName.split('.').slice(-2).join('.');
}

function shortName({ typeName }: Schema): string {
  return typeName?.split('.').at(-1) ?? '';
}

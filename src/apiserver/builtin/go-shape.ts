import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { canonicalQuantity, QuantityError } from '../values/quantity.js';

/** How Go encodes the fields of one type. */
interface ShapeFacts {
  /** Pointer fields, whose empty values are written. */
  readonly pointers: ReadonlySet<string>;
  /** Fields without `omitempty`, which are always written, with their zero values. */
  readonly written: ReadonlyMap<string, Json>;
}

type RecordedShapes = Readonly<Record<string, { readonly pointers: readonly string[]; readonly written: JsonObject }>>;

/** The facts of all API types, recorded by test/real/record-go-shapes.ts. */
const DATA = new URL('./data/go-shapes.json', import.meta.url);

let recordedFacts: ReadonlyMap<string, ShapeFacts> | undefined;

function recorded(): ReadonlyMap<string, ShapeFacts> {
  recordedFacts ??= new Map(
    Object.entries(JSON.parse(readFileSync(DATA, 'utf8')) as RecordedShapes).map(([name, { pointers, written }]) => [
      name,
      { pointers: new Set(pointers), written: new Map(Object.entries(written)) },
    ]),
  );
  return recordedFacts;
}

/** How values of a schema are written, computed once for each schema. */
interface Shape {
  readonly form: 'quantity' | 'time' | 'micro-time' | 'list' | 'struct' | 'map' | 'plain';
  /** The shape of items or of a map's values; computed on first use, because types may contain themselves. */
  inner(): Shape;
  readonly members: ReadonlyMap<string, Member>;
  readonly written: readonly Member[];
  /** Whether the store drops empty lists, so that an empty list is read back as a missing one. */
  readonly forgetsEmpty: boolean;
}

interface Member {
  readonly name: string;
  readonly schema: Schema;
  /** Computed on first use. */
  shape: Shape | undefined;
  /** Written in place of no value; undefined where nothing is written. */
  readonly zero: Json | undefined;
  readonly isPointer: boolean;
  /** Left out when it has no members. */
  readonly isMap: boolean;
  /** Left out when it is empty. */
  readonly isScalar: boolean;
}

const shapes = new WeakMap<Schema, Shape>();
const MICRO_TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';

/**
 * The object as kube-apiserver writes it after decoding it: without empty fields that Go omits, with
 * fields that Go always writes, and with quantities and times in canonical form. Values that cannot
 * be parsed stay as they are. The result shares no object that has a schema with the input.
 */
export function asGoWrites(object: JsonObject, schema: Schema): JsonObject {
  return shaped(object, shapeOf(schema)) as JsonObject;
}

/** Whether a missing value and an empty one differ. */
export function isPointerField(schema: Schema, name: string): boolean {
  return factsOf(schema).pointers.has(name);
}

function shaped(value: Json, shape: Shape): Json {
  switch (shape.form) {
    case 'struct':
      return isObject(value) ? shapedStruct(value, shape) : value;
    case 'list':
      return Array.isArray(value) ? value.map((item) => shaped(item, shape.inner())) : value;
    case 'map':
      return isObject(value) ? shapedMap(value, shape.inner()) : value;
    case 'quantity':
      return quantityText(value);
    case 'plain':
      return value;
    default:
      return typeof value === 'string' ? timeText(value, shape.form === 'micro-time') : value;
  }
}

function shapedMap(map: JsonObject, inner: Shape): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(map)) {
    const value = map[key]!;
    setMember(result, key, value === null && inner.form === 'plain' ? '' : shaped(value, inner));
  }
  return result;
}

function shapedStruct(object: JsonObject, { members, written, forgetsEmpty }: Shape): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(object)) {
    const member = members.get(key);
    const given = object[key]!;
    if (member === undefined) {
      setMember(result, key, given);
      continue;
    }
    if (given === null) continue;
    member.shape ??= shapeOf(member.schema);
    const { shape } = member;
    const value = shape.form === 'plain' ? given : shaped(given, shape);
    if (forgetsEmpty && member.zero === null && Array.isArray(value) && value.length === 0) continue;
    if (member.zero !== undefined || !isLeftOut(value, member)) result[key] = value;
  }
  for (const { name, zero, schema } of written) {
    if (result[name] === undefined) result[name] = isObject(zero) ? shaped({}, shapeOf(schema)) : zero!;
  }
  return result;
}

/** Go's `omitempty`: pointers are never empty, lists and maps are without members, objects with fields never. */
function isLeftOut(value: Json, { isMap, isScalar, isPointer }: Member): boolean {
  if (typeof value === 'object') {
    if (Array.isArray(value)) return value.length === 0;
    return isMap && Object.keys(value!).length === 0;
  }
  return isScalar && !isPointer && (value === '' || value === 0 || value === false);
}

function shapeOf(schema: Schema): Shape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = newShape(schema);
    shapes.set(schema, shape);
  }
  return shape;
}

function newShape(schema: Schema): Shape {
  const { properties, values, items, format, typeName = '' } = schema;
  const facts = properties === undefined ? undefined : factsOf(schema);
  const members = Object.entries(properties ?? {}).map(([name, each]) => memberOf(name, each, facts!));
  const inner = values ?? items;
  let innerShape: Shape | undefined;
  return {
    form: formOf(schema),
    inner: () => {
      innerShape ??= shapeOf(inner ?? schema);
      return innerShape;
    },
    members: new Map(members.map((member) => [member.name, member])),
    written: members.filter(({ zero }) => zero !== undefined),
    // Kinds of these groups are stored as protobuf, which cannot express an empty list.
    forgetsEmpty: format === undefined && typeName.startsWith('io.k8s.api.'),
  };
}

function formOf({ format, properties, values, items, typeName }: Schema): Shape['form'] {
  if (format === 'quantity') return 'quantity';
  if (format === 'date-time') return typeName === MICRO_TIME ? 'micro-time' : 'time';
  if (properties !== undefined) return 'struct';
  if (values !== undefined) return 'map';
  return items === undefined ? 'plain' : 'list';
}

function memberOf(name: string, schema: Schema, { pointers, written }: ShapeFacts): Member {
  return {
    name,
    schema,
    shape: undefined,
    zero: written.get(name),
    isPointer: pointers.has(name),
    isMap: schema.values !== undefined,
    isScalar: !['quantity', 'int-or-string', 'date-time'].includes(schema.format ?? ''),
  };
}

/** Types of surfaces captured from other servers are not recorded; zero defaults in OpenAPI show most written fields. */
function factsOf(schema: Schema): ShapeFacts {
  const known = schema.typeName === undefined ? undefined : recorded().get(schema.typeName);
  if (known !== undefined) return known;
  const written = new Map<string, Json>();
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const zero = each.default;
    if (zero !== undefined && isZero(zero)) written.set(name, zero);
    else if (schema.required?.includes(name) === true && each.type === 'array') written.set(name, null);
  }
  return { pointers: new Set(), written };
}

/** Whether a default is the zero value of its Go type. */
export function isZero(value: Json): boolean {
  return value === '' || value === 0 || value === false || (isObject(value) && Object.keys(value).length === 0);
}

function quantityText(value: Json): Json {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  try {
    return canonicalQuantity(value);
  } catch (error) {
    if (error instanceof QuantityError) return value;
    throw error;
  }
}

/** A time in UTC, with seconds or microseconds as its precision. */
function timeText(text: string, isMicro: boolean): string {
  // The form that the server itself writes.
  if (!isMicro && text.length === 20 && text.endsWith('Z')) return text;
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (match === null) return text;
  const [, whole, fraction = '', zone] = match;
  const time = new Date(`${whole}${zone}`);
  if (Number.isNaN(time.getTime())) return text;
  const seconds = time.toISOString().slice(0, 19);
  return isMicro ? `${seconds}.${fraction.padEnd(6, '0').slice(0, 6)}Z` : `${seconds}Z`;
}

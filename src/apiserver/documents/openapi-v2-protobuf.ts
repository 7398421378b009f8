/**
 * Encodes OpenAPI v2 as protobuf (the messages of gnostic), the only encoding that kubectl and
 * client-go accept. The messages are tables: name in JSON, field number, writer. Members that start
 * with `x-` are written to the message's list of extensions, as YAML, which JSON is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WireWriter } from '../../base/protobuf-wire.js';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { METHODS } from './openapi-schema.js';

type Write = (writer: WireWriter, id: number, value: Json) => void;
type Field = readonly [name: string, id: number, write: Write];
interface Message {
  readonly fields: readonly Field[];
  /** The number of the list of extensions, if the message has one. */
  readonly extensions?: number;
}

const text: Write = (writer, id, value) => writer.text(id, String(value));
const flag: Write = (writer, id, value) => writer.flag(id, value === true);
/** Truncates other numbers to integers. */
const whole: Write = (writer, id, value) => {
  const number = Number(value);
  writer.number(id, Number.isFinite(number) ? Math.trunc(number) : 0);
};
const double: Write = (writer, id, value) => writer.double(id, Number(value));
const any: Write = (writer, id, value) => writer.message(id, () => writer.text(2, JSON.stringify(value)));

/** A nested message. Messages refer to each other, so the table is looked up on use. */
function message(get: () => Message): Write {
  return (writer, id, value) => writer.message(id, () => encode(writer, get(), value as JsonObject));
}

function each(write: Write): Write {
  return (writer, id, value) => {
    for (const item of list(value)) write(writer, id, item);
  };
}

/** A message that holds nothing but another one, at `inner`. */
function wrapped(inner: number, write: Write): Write {
  return (writer, id, value) => writer.message(id, () => write(writer, inner, value));
}

/** A map: a message with a list, at `inner`, of names (1) with their values (2). */
function named(inner: number, write: Write): Write {
  return (writer, id, value) => {
    const members = value as JsonObject;
    writer.message(id, () => {
      for (const name of Object.keys(members)) namedItem(writer, [inner, write], name, members[name]!);
    });
  };
}

type NamedItems = readonly [inner: number, write: Write];

function namedItem(writer: WireWriter, [inner, write]: NamedItems, name: string, value: Json): void {
  writer.message(inner, () => {
    writer.text(1, name);
    write(writer, 2, value);
  });
}

const texts = each(text);
const anys = each(any);
const schema = message(() => SCHEMA);
const schemaOrFlag: Write = (writer, id, value) =>
  writer.message(id, () => (isObject(value) ? schema(writer, 1, value) : flag(writer, 2, value)));

const SCHEMA: Message = {
  fields: [
    ['$ref', 1, text],
    ['format', 2, text],
    ['title', 3, text],
    ['description', 4, text],
    ['default', 5, any],
    ['multipleOf', 6, double],
    ['maximum', 7, double],
    ['exclusiveMaximum', 8, flag],
    ['minimum', 9, double],
    ['exclusiveMinimum', 10, flag],
    ['maxLength', 11, whole],
    ['minLength', 12, whole],
    ['pattern', 13, text],
    ['maxItems', 14, whole],
    ['minItems', 15, whole],
    ['uniqueItems', 16, flag],
    ['maxProperties', 17, whole],
    ['minProperties', 18, whole],
    ['required', 19, texts],
    ['enum', 20, anys],
    ['additionalProperties', 21, schemaOrFlag],
    ['type', 22, wrapped(1, text)],
    ['items', 23, wrapped(1, schema)],
    ['allOf', 24, each(schema)],
    ['properties', 25, named(1, schema)],
    ['example', 30, any],
  ],
  extensions: 31,
};

const BODY_PARAMETER: Message = {
  fields: [
    ['description', 1, text],
    ['name', 2, text],
    ['in', 3, text],
    ['required', 4, flag],
    ['schema', 5, schema],
  ],
};
const bodyParameter = message(() => BODY_PARAMETER);

/** A parameter of a path or query. Those of a query have `allowEmptyValue` before `type`. */
function plainParameter(typeId: number, uniqueItemsId: number): Write {
  const fields: Field[] = [
    ['required', 1, flag],
    ['in', 2, text],
    ['description', 3, text],
    ['name', 4, text],
    ['type', typeId, text],
    ['format', typeId + 1, text],
    ['uniqueItems', uniqueItemsId, flag],
  ];
  return message(() => ({ fields }));
}
const queryParameter = wrapped(3, plainParameter(6, 20));
const pathParameter = wrapped(4, plainParameter(5, 19));

/** A parameter is one of several messages, depending on its place. */
const parameter: Write = (writer, id, value) =>
  writer.message(id, () => {
    const place = (value as JsonObject)['in'];
    if (place === 'body') bodyParameter(writer, 1, value);
    else if (place === 'path') pathParameter(writer, 2, value);
    else queryParameter(writer, 2, value);
  });
const parameters = each(wrapped(1, parameter));

const RESPONSE: Message = {
  fields: [
    ['description', 1, text],
    ['schema', 2, wrapped(1, schema)],
  ],
  extensions: 5,
};
const response = message(() => RESPONSE);
const OPERATION: Message = {
  fields: [
    ['tags', 1, texts],
    ['description', 3, text],
    ['operationId', 5, text],
    ['produces', 6, texts],
    ['consumes', 7, texts],
    ['parameters', 8, parameters],
    ['responses', 9, named(1, wrapped(1, response))],
    ['schemes', 10, texts],
  ],
  extensions: 13,
};
const operation = message(() => OPERATION);
const PATH_ITEM: Message = {
  fields: [...METHODS.map((method, index): Field => [method, index + 2, operation]), ['parameters', 9, parameters]],
  extensions: 10,
};
const INFO: Message = {
  fields: [
    ['title', 1, text],
    ['version', 2, text],
  ],
};
const API_KEY: Message = {
  fields: [
    ['type', 1, text],
    ['name', 2, text],
    ['in', 3, text],
  ],
};
const info = message(() => INFO);
const pathItem = message(() => PATH_ITEM);
const apiKey = message(() => API_KEY);

/** Two members hold nearly everything: maps, which are encoded in slices. */
const DOCUMENT: readonly (readonly [name: string, id: number, write: Write | NamedItems])[] = [
  ['swagger', 1, text],
  ['info', 2, info],
  ['paths', 8, [2, pathItem]],
  ['definitions', 9, [1, schema]],
  ['security', 12, each(named(1, wrapped(1, texts)))],
  ['securityDefinitions', 13, named(1, wrapped(2, apiKey))],
];

/** Some milliseconds of work, after which other requests are served. */
const ITEMS_PER_TURN = 100;

export async function encodeOpenApiV2(document: JsonObject): Promise<Buffer> {
  const writer = new WireWriter();
  for (const [name, id, write] of DOCUMENT) {
    const found = member(document, name);
    if (found === undefined) continue;
    if (typeof write === 'function') write(writer, id, found);
    else writer.bytes(id, await encodeLarge(write, found as JsonObject));
  }
  return writer.finish();
}

async function encodeLarge(items: NamedItems, members: JsonObject): Promise<Buffer> {
  const writer = new WireWriter();
  let written = 0;
  for (const name of Object.keys(members)) {
    namedItem(writer, items, name, members[name]!);
    if (++written % ITEMS_PER_TURN === 0) await nextTurn();
  }
  return writer.finish();
}

function encode(writer: WireWriter, { fields, extensions }: Message, value: JsonObject): void {
  for (const [name, id, write] of fields) {
    const found = member(value, name);
    if (found !== undefined && found !== null) write(writer, id, found);
  }
  if (extensions === undefined) return;
  for (const name of Object.keys(value)) {
    if (name.startsWith('x-')) namedItem(writer, [extensions, any], name, value[name]!);
  }
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

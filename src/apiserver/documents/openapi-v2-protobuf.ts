/**
 * OpenAPI v2 in protobuf (the messages of gnostic), which is all that kubectl and client-go take for it. The messages
 * stand here as tables: name in JSON, field number, how it is written. Members that start with `x-` go to the
 * message's list of extensions, as YAML, which JSON is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';

type Write = (id: number, value: Json) => Buffer;
type Field = readonly [name: string, id: number, write: Write];
interface Message {
  readonly fields: readonly Field[];
  /** The number of the list of extensions; absent where a message has none. */
  readonly extensions?: number;
}

const LENGTH_DELIMITED = 2;
const FIXED64 = 1;
const VARINT = 0;

const text: Write = (id, value) => delimited(id, Buffer.from(String(value)));
const texts: Write = (id, value) => Buffer.concat(list(value).map((each) => text(id, each)));
const flag: Write = (id, value) => Buffer.concat([tag(id, VARINT), Buffer.from([value === true ? 1 : 0])]);
const whole: Write = (id, value) => Buffer.concat([tag(id, VARINT), signedVarint(Number(value))]);
const double: Write = (id, value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(Number(value));
  return Buffer.concat([tag(id, FIXED64), bytes]);
};
const any: Write = (id, value) => delimited(id, text(2, JSON.stringify(value)));
const anys: Write = (id, value) => Buffer.concat(list(value).map((each) => any(id, each)));

/** Messages refer to each other, so they are looked up when used. */
function message(get: () => Message): Write {
  return (id, value) => delimited(id, encode(get(), value as JsonObject));
}

function messages(get: () => Message): Write {
  return (id, value) => Buffer.concat(list(value).map((each) => delimited(id, encode(get(), each as JsonObject))));
}

/** A message that holds nothing but another one, at `inner`. */
function wrapped(inner: number, write: Write): Write {
  return (id, value) => delimited(id, write(inner, value));
}

/** A map: a list, at `inner` of a message of its own, of names (1) with their values (2). */
function named(inner: number, write: Write): Write {
  return (id, value) => {
    const members = value as JsonObject;
    const items = Object.keys(members).map((name) => namedItem(inner, name, write(2, members[name]!)));
    return delimited(id, Buffer.concat(items));
  };
}

function namedItem(inner: number, name: string, value: Buffer): Buffer {
  return delimited(inner, Buffer.concat([text(1, name), value]));
}

const schema = message(() => SCHEMA);

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
    ['additionalProperties', 21, (id, value) => delimited(id, isObject(value) ? schema(1, value) : flag(2, value))],
    ['type', 22, wrapped(1, text)],
    ['items', 23, wrapped(1, schema)],
    ['allOf', 24, messages(() => SCHEMA)],
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
const QUERY_PARAMETER: Message = {
  fields: [
    ['required', 1, flag],
    ['in', 2, text],
    ['description', 3, text],
    ['name', 4, text],
    ['type', 6, text],
    ['format', 7, text],
    ['uniqueItems', 20, flag],
  ],
};
const PATH_PARAMETER: Message = {
  fields: [
    ['required', 1, flag],
    ['in', 2, text],
    ['description', 3, text],
    ['name', 4, text],
    ['type', 5, text],
    ['format', 6, text],
    ['uniqueItems', 19, flag],
  ],
};

/** A parameter is one of several messages, by where it stands. */
const parameters: Write = (id, value) =>
  Buffer.concat(list(value).map((each) => delimited(id, delimited(1, parameter(each as JsonObject)))));

function parameter(value: JsonObject): Buffer {
  switch (value['in']) {
    case 'body':
      return delimited(1, encode(BODY_PARAMETER, value));
    case 'path':
      return delimited(2, delimited(4, encode(PATH_PARAMETER, value)));
    default:
      return delimited(2, delimited(3, encode(QUERY_PARAMETER, value)));
  }
}

const RESPONSE: Message = {
  fields: [
    ['description', 1, text],
    ['schema', 2, wrapped(1, schema)],
  ],
  extensions: 5,
};
const OPERATION: Message = {
  fields: [
    ['tags', 1, texts],
    ['description', 3, text],
    ['operationId', 5, text],
    ['produces', 6, texts],
    ['consumes', 7, texts],
    ['parameters', 8, parameters],
    [
      'responses',
      9,
      named(
        1,
        wrapped(
          1,
          message(() => RESPONSE),
        ),
      ),
    ],
    ['schemes', 10, texts],
  ],
  extensions: 13,
};
const operation = message(() => OPERATION);
const PATH_ITEM: Message = {
  fields: [
    ['get', 2, operation],
    ['put', 3, operation],
    ['post', 4, operation],
    ['delete', 5, operation],
    ['options', 6, operation],
    ['head', 7, operation],
    ['patch', 8, operation],
    ['parameters', 9, parameters],
  ],
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
type NamedItems = readonly [inner: number, write: Write];
const PATHS: NamedItems = [2, message(() => PATH_ITEM)];
const DEFINITIONS: NamedItems = [1, schema];

const DOCUMENT: Message = {
  fields: [
    ['swagger', 1, text],
    ['info', 2, message(() => INFO)],
    [
      'paths',
      8,
      named(
        2,
        message(() => PATH_ITEM),
      ),
    ],
    ['definitions', 9, named(1, schema)],
    [
      'security',
      12,
      (id, value) => Buffer.concat(list(value).map((each) => named(1, wrapped(1, texts))(id, each as JsonObject))),
    ],
    [
      'securityDefinitions',
      13,
      named(
        1,
        wrapped(
          2,
          message(() => API_KEY),
        ),
      ),
    ],
  ],
  extensions: 16,
};

/** The two members that hold nearly everything. */
const LARGE: Readonly<Record<string, NamedItems>> = { paths: PATHS, definitions: DEFINITIONS };
/** Some milliseconds of work, after which others get their turn. */
const ITEMS_PER_TURN = 100;

export async function encodeOpenApiV2(document: JsonObject): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const [name, id, write] of DOCUMENT.fields) {
    const found = member(document, name);
    if (found === undefined) continue;
    const large = Object.hasOwn(LARGE, name) ? LARGE[name] : undefined;
    parts.push(large === undefined ? write(id, found) : await encodeLarge(id, large, found as JsonObject));
  }
  return Buffer.concat(parts);
}

async function encodeLarge(id: number, [inner, write]: NamedItems, members: JsonObject): Promise<Buffer> {
  const items: Buffer[] = [];
  for (const name of Object.keys(members)) {
    items.push(namedItem(inner, name, write(2, members[name]!)));
    if (items.length % ITEMS_PER_TURN === 0) await nextTurn();
  }
  return delimited(id, Buffer.concat(items));
}

function encode({ fields, extensions }: Message, value: JsonObject): Buffer {
  const parts: Buffer[] = [];
  for (const [name, id, write] of fields) {
    const found = member(value, name);
    if (found !== undefined && found !== null) parts.push(write(id, found));
  }
  if (extensions !== undefined) {
    for (const name of Object.keys(value)) {
      if (name.startsWith('x-'))
        parts.push(delimited(extensions, Buffer.concat([text(1, name), any(2, value[name]!)])));
    }
  }
  return Buffer.concat(parts);
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

function delimited(id: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(id, LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

function tag(id: number, wireType: number): Buffer {
  return varint(id * 8 + wireType);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** Two's complement of 64 bits. What is no whole number is cut to one. */
function signedVarint(value: number): Buffer {
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(Number.isFinite(value) ? value : 0)));
  const bytes: number[] = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

import { ProtobufError, WireWriter } from '../../base/protobuf-wire.js';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { closeEnvelope } from '../../kube/protobuf-envelope.js';
import { type Field, jsonSchemaMessage, kindMessage, type Message, type SpecialType } from './message-table.js';
import { isPlain, PLAIN_FORMS } from './plain-forms.js';

/** Initial size, enough for most objects. */
const OBJECT_BYTES = 4_096;

/**
 * Encodes an object with its envelope; undefined for a kind without a message, such as custom
 * resources. Throws ProtobufError for a field of the wrong type.
 */
export function encodeProtobuf(object: JsonObject): Buffer | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const message = kindMessage(apiVersion, kind);
  if (message === undefined) return undefined;
  const writer = new WireWriter(OBJECT_BYTES);
  writeMessage(writer, message, object);
  return closeEnvelope({ apiVersion, kind, raw: writer.finish() });
}

/** Encodes a list whose items are encoded one at a time; yields after each. */
export function encodeProtobufList(
  head: JsonObject,
  name: string,
  items: Iterable<Json>,
): Generator<void, Buffer> | undefined {
  const { apiVersion, kind } = head;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const message = kindMessage(apiVersion, kind);
  return message && listSteps({ message, apiVersion, kind, head, name, items });
}

function* listSteps(list: {
  readonly message: Message;
  readonly apiVersion: string;
  readonly kind: string;
  readonly head: JsonObject;
  readonly name: string;
  readonly items: Iterable<Json>;
}): Generator<void, Buffer> {
  const { message, apiVersion, kind, head, name, items } = list;
  const writer = new WireWriter();
  for (const field of inNumericOrder(message)) {
    if (field.name !== name) {
      writeField(writer, field, member(head, field.name) ?? null);
      continue;
    }
    for (const item of items) {
      writeSingle(writer, field, item);
      yield;
    }
  }
  return closeEnvelope({ apiVersion, kind, raw: writer.finish() });
}

function writeMessage(writer: WireWriter, message: Message, value: Json): void {
  if (message.isList) writeList(writer, message.fields[0]!, value);
  else {
    if (!isObject(value)) throw new ProtobufError(`${message.name}: not an object`);
    for (const field of inNumericOrder(message)) {
      if (field.isInlined) writeDelimited(writer, field, value);
      else writeField(writer, field, member(value, field.name) ?? null);
    }
  }
}

const ordered = new WeakMap<Message, readonly Field[]>();

function inNumericOrder(message: Message): readonly Field[] {
  let fields = ordered.get(message);
  if (fields === undefined) {
    fields = [...message.fields].sort((left, right) => left.number - right.number);
    ordered.set(message, fields);
  }
  return fields;
}

function writeField(writer: WireWriter, field: Field, value: Json): void {
  if (field.shape === 'list') {
    if (value !== null) writeList(writer, field, value);
  } else if (field.shape === 'map') {
    if (value !== null) writeMap(writer, field, value);
  } else if (value !== null) writeSingle(writer, field, value);
  // Go writes the zero value of fields that are not pointers.
  else if (!field.isPointer) writeZero(writer, field);
}

function writeList(writer: WireWriter, field: Field, value: Json): void {
  if (!Array.isArray(value)) throw new ProtobufError(`${field.name}: not a list`);
  for (const item of value) writeSingle(writer, field, item);
}

/** Sorted by key, as in Go. */
function writeMap(writer: WireWriter, field: Field, value: Json): void {
  if (!isObject(value)) throw new ProtobufError(`${field.name}: not a map`);
  const keys = Object.keys(value).map((key) => ({ key, bytes: Buffer.from(key, 'utf8') }));
  for (const { key, bytes } of keys.sort((left, right) => Buffer.compare(left.bytes, right.bytes))) {
    writer.message(field.number, () => {
      writer.bytes(1, bytes);
      writeDelimited(writer, { number: 2, type: field.type }, value[key]!);
    });
  }
}

function writeSingle(writer: WireWriter, field: Field, value: Json): void {
  const { name, number, type } = field;
  const scalar = 'scalar' in type ? type.scalar : 'bytes';
  if (scalar === 'string' || scalar === 'bytes') {
    writeDelimited(writer, field, value);
  } else if (scalar === 'bool') {
    if (typeof value !== 'boolean') throw new ProtobufError(`${name}: neither true nor false`);
    writer.flag(number, value);
  } else if (typeof value !== 'number') throw new ProtobufError(`${name}: not a number`);
  else if (scalar === 'double') writer.double(number, value);
  else if (!Number.isInteger(value)) throw new ProtobufError(`${name}: not a whole number`);
  else writer.number(number, value);
}

function writeZero(writer: WireWriter, field: Field): void {
  const { number, type } = field;
  if ('message' in type) {
    if (!type.message.isList) writeDelimited(writer, field, {});
  } else if ('special' in type) {
    const isNumber = type.special === 'Quantity' || type.special === 'IntOrString';
    if (isNumber) writeDelimited(writer, field, 0);
    else writer.text(number, '');
  } else if (type.scalar === 'string') writer.text(number, '');
  else if (type.scalar === 'double') writer.double(number, 0);
  else if (type.scalar !== 'bytes') writer.number(number, 0);
}

/** Text, bytes and messages. */
function writeDelimited(writer: WireWriter, { number, type }: Pick<Field, 'number' | 'type'>, value: Json): void {
  if ('message' in type) writer.message(number, () => writeMessage(writer, type.message, value));
  else if ('special' in type) writer.message(number, () => writeSpecial(writer, type.special, value));
  // Go reads null as empty text among the items of a list or a map.
  else if (value !== null && typeof value !== 'string') throw new ProtobufError('not text');
  else if (type.scalar === 'bytes') writer.bytes(number, Buffer.from(value ?? '', 'base64'));
  else writer.text(number, value ?? '');
}

function writeSpecial(writer: WireWriter, special: SpecialType, value: Json): void {
  if (isPlain(special)) PLAIN_FORMS[special].write(writer, value);
  else schemaOr(writer, value, special === 'JSONSchemaPropsOrBool');
}

/** A schema, or what may stand in its place: more schemas, yes or no, names. */
function schemaOr(writer: WireWriter, value: Json, isBool: boolean): void {
  const schema = (field: number, each: Json): unknown =>
    writer.message(field, () => writeMessage(writer, jsonSchemaMessage(), each));
  if (isBool) {
    writer.flag(1, value !== false);
    if (isObject(value)) schema(2, value);
  } else if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'string') writer.text(2, item);
      else schema(2, item);
    }
  } else schema(1, value);
}

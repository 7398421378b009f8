import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { closeEnvelope } from '../../kube/protobuf-envelope.js';
import { type Field, type FieldType, jsonSchemaMessage, kindMessage, type Message } from './message-table.js';
import { intOrString, json, microTime, quantity, time } from './plain-forms.js';
import { ProtobufError } from './protobuf-error.js';
import { WireWriter } from './wire-writer.js';

/**
 * An object in its envelope; undefined where its kind has no message, as that of a custom resource.
 * Throws ProtobufError where a field is not of the type that its kind says.
 */
export function encodeProtobuf(object: JsonObject): Buffer | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const message = kindMessage(apiVersion, kind);
  return message && closeEnvelope({ apiVersion, kind, raw: messageBytes(message, object) });
}

/** The same for a list whose items are encoded one at a time, yielding after each. */
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

function messageBytes(message: Message, value: Json): Buffer {
  const writer = new WireWriter();
  if (message.isList) writeList(writer, message.fields[0]!, value);
  else {
    if (!isObject(value)) throw new ProtobufError(`${message.name}: not an object`);
    for (const field of inNumericOrder(message)) {
      if (field.isInlined) writer.delimited(field.number, singleBytes(field.type, value));
      else writeField(writer, field, member(value, field.name) ?? null);
    }
  }
  return writer.finish();
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
  // Of what is no pointer Go writes the empty value too.
  else if (!field.isPointer) writeZero(writer, field);
}

function writeList(writer: WireWriter, field: Field, value: Json): void {
  if (!Array.isArray(value)) throw new ProtobufError(`${field.name}: not a list`);
  for (const item of value) writeSingle(writer, field, item);
}

/** In the order of the keys, as Go writes maps. */
function writeMap(writer: WireWriter, field: Field, value: Json): void {
  if (!isObject(value)) throw new ProtobufError(`${field.name}: not a map`);
  const keys = Object.keys(value).map((key) => ({ key, bytes: Buffer.from(key, 'utf8') }));
  for (const { key, bytes } of keys.sort((left, right) => Buffer.compare(left.bytes, right.bytes))) {
    const entry = new WireWriter();
    entry.delimited(1, bytes);
    entry.delimited(2, singleBytes(field.type, value[key]!));
    writer.delimited(field.number, entry.finish());
  }
}

function writeSingle(writer: WireWriter, { name, number, type }: Field, value: Json): void {
  const scalar = 'scalar' in type ? type.scalar : 'bytes';
  if (scalar === 'string' || scalar === 'bytes') {
    writer.delimited(number, singleBytes(type, value));
  } else if (scalar === 'bool') {
    if (typeof value !== 'boolean') throw new ProtobufError(`${name}: neither true nor false`);
    writer.whole(number, value ? 1 : 0);
  } else if (typeof value !== 'number') throw new ProtobufError(`${name}: not a number`);
  else if (scalar === 'double') writer.double(number, value);
  else if (!Number.isInteger(value)) throw new ProtobufError(`${name}: not a whole number`);
  else writer.whole(number, value);
}

function writeZero(writer: WireWriter, { number, type }: Field): void {
  if ('message' in type) {
    if (!type.message.isList) writer.delimited(number, messageBytes(type.message, {}));
  } else if ('special' in type) {
    const isNumber = type.special === 'Quantity' || type.special === 'IntOrString';
    writer.delimited(number, isNumber ? singleBytes(type, 0) : Buffer.alloc(0));
  } else if (type.scalar === 'string') writer.string(number, '');
  else if (type.scalar === 'double') writer.double(number, 0);
  else if (type.scalar !== 'bytes') writer.whole(number, 0);
}

function singleBytes(type: FieldType, value: Json): Buffer {
  if ('message' in type) return messageBytes(type.message, value);
  if ('scalar' in type) {
    // Go reads null as empty text among the items of a list or a map.
    if (value !== null && typeof value !== 'string') throw new ProtobufError('not text');
    return Buffer.from(value ?? '', type.scalar === 'bytes' ? 'base64' : 'utf8');
  }
  switch (type.special) {
    case 'Time':
      return time.write(value);
    case 'MicroTime':
      return microTime.write(value);
    case 'Quantity':
      return quantity.write(value);
    case 'IntOrString':
      return intOrString.write(value);
    case 'JSON':
    case 'FieldsV1':
    case 'RawExtension':
      return json.write(value);
    default:
      return schemaOr(value, type.special === 'JSONSchemaPropsOrBool');
  }
}

/** A schema, or what may stand in its place: more schemas, yes or no, names. */
function schemaOr(value: Json, isBool: boolean): Buffer {
  const writer = new WireWriter();
  if (isBool) {
    writer.whole(1, value === false ? 0 : 1);
    if (isObject(value)) writer.delimited(2, messageBytes(jsonSchemaMessage(), value));
  } else if (Array.isArray(value)) {
    for (const item of value) {
      writer.delimited(
        2,
        typeof item === 'string' ? Buffer.from(item, 'utf8') : messageBytes(jsonSchemaMessage(), item),
      );
    }
  } else writer.delimited(1, messageBytes(jsonSchemaMessage(), value));
  return writer.finish();
}

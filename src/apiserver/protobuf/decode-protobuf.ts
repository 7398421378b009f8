import { DELIMITED, FIXED64, ProtobufError, VARINT, WireReader } from '../../base/protobuf-wire.js';
import { type Json, type JsonObject, setMember } from '../../kube/json.js';
import { isEnveloped, openEnvelope } from '../../kube/protobuf-envelope.js';
import { BODY_VALUES_MAX } from '../contracts/size-bounds.js';
import { type Field, type FieldType, jsonSchemaMessage, kindMessage, type Message } from './message-table.js';
import { isPlain, PLAIN_FORMS, rawBytes, type SchemaType } from './plain-forms.js';

/** Deeper messages are refused, so that no input can exhaust the stack. */
export const PROTOBUF_LEVELS_MAX = 200;
/**
 * Bound on the fields of all messages in a document, empty ones included: two bytes can expand to
 * an object with all its empty fields. Enough for ten times the containers that an object can hold.
 */
const PROTOBUF_FIELDS_MAX = 500_000;

const NOTHING = Buffer.alloc(0);

export interface DecodedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Equal to Go's JSON of the object, with `kind` and `apiVersion`. */
  readonly object: JsonObject;
}

/**
 * Decodes an object with its envelope. `expected` is the type if the envelope has none. Throws
 * ProtobufError for bytes that are not an object of a built-in kind.
 */
export function decodeProtobuf(
  bytes: Buffer,
  expected: { readonly apiVersion: string; readonly kind: string } = { apiVersion: '', kind: '' },
): DecodedObject {
  return new Decoding().envelope(bytes, 0, expected);
}

/** The values of one field: the last scalar, or all pieces of a message, list or map. */
type Found = { scalar: Json } | { pieces: Buffer[] } | { scalars: Json[] };

class Decoding {
  #fields = 0;
  #values = 0;

  envelope(bytes: Buffer, level: number, expected = { apiVersion: '', kind: '' }): DecodedObject {
    const { raw, ...named } = openEnvelope(bytes);
    const apiVersion = named.apiVersion === '' ? expected.apiVersion : named.apiVersion;
    const kind = named.kind === '' ? expected.kind : named.kind;
    const message = kindMessage(apiVersion, kind);
    if (message === undefined) {
      throw new ProtobufError(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
      );
    }
    const object: JsonObject = { kind, apiVersion };
    this.#members(message, raw, object, level);
    return { apiVersion, kind, object };
  }

  #members(message: Message, bytes: Buffer, target: JsonObject, level: number): JsonObject {
    if (level > PROTOBUF_LEVELS_MAX) throw new ProtobufError('exceeded max depth');
    this.#fields += message.fields.length;
    if (this.#fields > PROTOBUF_FIELDS_MAX) throw new ProtobufError('too many messages');
    const found = this.#collect(message, bytes);
    for (const field of message.fields) {
      const each = found.get(field);
      if (field.isInlined && 'message' in field.type) {
        this.#members(field.type.message, each && 'pieces' in each ? merged(each.pieces) : NOTHING, target, level + 1);
        continue;
      }
      const value = each === undefined ? undefined : this.#value(field, each, level + 1);
      if (value !== undefined && (field.isPointer || field.isWritten || !isEmpty(value))) {
        setMember(target, field.name, value);
      } else if (field.isWritten) setMember(target, field.name, this.#zero(field, level + 1));
    }
    return target;
  }

  /** Several pieces of one message are merged. */
  #value(field: Field, found: Found, level: number): Json | undefined {
    if ('scalar' in found) return found.scalar;
    if ('scalars' in found) return found.scalars;
    const { pieces } = found;
    if (field.shape === 'one') return this.#single(field.type, merged(pieces), level);
    if (field.shape === 'list') return pieces.map((piece) => this.#single(field.type, piece, level) ?? null);
    const map: JsonObject = {};
    for (const piece of pieces) {
      const { key, value } = entry(piece);
      setMember(map, key, this.#single(field.type, value, level) ?? null);
    }
    return map;
  }

  #single(type: FieldType, bytes: Buffer, level: number): Json | undefined {
    if ('scalar' in type) return type.scalar === 'bytes' ? bytes.toString('base64') : bytes.toString('utf8');
    if ('message' in type) return this.#object(type.message, bytes, level);
    if (!isPlain(type.special)) return this.#schemaOr(type.special, bytes, level);
    if (type.special === 'RawExtension') {
      const raw = rawBytes(bytes);
      if (isEnveloped(raw)) return this.envelope(raw, level + 1).object;
    }
    return PLAIN_FORMS[type.special].read(bytes);
  }

  #object(message: Message, bytes: Buffer, level: number): Json {
    if (!message.isList) return this.#members(message, bytes, {}, level);
    const items = this.#collect(message, bytes).get(message.fields[0]!);
    return items === undefined ? null : (this.#value(message.fields[0]!, items, level) ?? null);
  }

  #collect(message: Message, bytes: Buffer): Map<Field, Found> {
    const found = new Map<Field, Found>();
    const reader = new WireReader(bytes);
    while (reader.next()) {
      if (++this.#values > BODY_VALUES_MAX) throw new ProtobufError('too many values');
      collectField(reader, message, found);
    }
    return found;
  }

  /** A schema, or what may stand in its place: more schemas, yes or no, names. */
  #schemaOr(type: SchemaType, bytes: Buffer, level: number): Json {
    const isBool = type === 'JSONSchemaPropsOrBool';
    const reader = new WireReader(bytes);
    const schema: Buffer[] = [];
    const others: Json[] = [];
    let allows = false;
    while (reader.next()) {
      if (reader.field > 2) continue;
      if (isBool && reader.field === 1) allows = reader.flag();
      else {
        const piece = reader.bytes();
        if (isBool || reader.field === 1) schema.push(piece);
        else if (type === 'JSONSchemaPropsOrStringArray') others.push(piece.toString('utf8'));
        else others.push(this.#members(jsonSchemaMessage(), piece, {}, level + 1));
      }
    }
    if (others.length > 0) return others;
    if (schema.length > 0) return this.#members(jsonSchemaMessage(), merged(schema), {}, level + 1);
    return isBool ? allows : null;
  }

  /** Returns Go's JSON of the zero value, for a field that is always written. */
  #zero(field: Field, level: number): Json {
    const { type } = field;
    if (field.isPointer || field.shape !== 'one') return null;
    if ('message' in type) return type.message.isList ? null : this.#members(type.message, NOTHING, {}, level);
    if ('special' in type) return type.special === 'Quantity' ? '0' : type.special === 'IntOrString' ? 0 : null;
    if (type.scalar === 'bytes') return null;
    if (type.scalar === 'string') return '';
    return type.scalar === 'bool' ? false : 0;
  }
}

function isEmpty(value: Json): boolean {
  return value === '' || value === 0 || value === false || value === null;
}

function collectField(reader: WireReader, message: Message, found: Map<Field, Found>): void {
  const field = message.byNumber.get(reader.field);
  if (field === undefined) return;
  if (isNumeric(field.type) && field.shape !== 'map') collectNumbers(reader, field, found);
  else {
    const piece = reader.bytes();
    const pieces = found.get(field);
    const isText = 'scalar' in field.type && field.shape === 'one';
    if (pieces === undefined || isText || !('pieces' in pieces)) found.set(field, { pieces: [piece] });
    else pieces.pieces.push(piece);
  }
}

function collectNumbers(reader: WireReader, field: Field, found: Map<Field, Found>): void {
  if (field.shape === 'one') {
    found.set(field, { scalar: numeric(reader, field.type) });
    return;
  }
  const known = found.get(field);
  const scalars = known && 'scalars' in known ? known.scalars : [];
  if (known === undefined) found.set(field, { scalars });
  if (reader.wireType !== DELIMITED) {
    scalars.push(numeric(reader, field.type));
    return;
  }
  const wireType = 'scalar' in field.type && field.type.scalar === 'double' ? FIXED64 : VARINT;
  const packed = new WireReader(reader.bytes(), wireType);
  while (!packed.atEnd) scalars.push(numeric(packed, field.type));
}

function isNumeric(type: FieldType): boolean {
  return 'scalar' in type && type.scalar !== 'string' && type.scalar !== 'bytes';
}

function numeric(reader: WireReader, type: FieldType): Json {
  const scalar = 'scalar' in type ? type.scalar : 'bytes';
  if (scalar === 'double') {
    const value = reader.double();
    if (!Number.isFinite(value)) throw new ProtobufError('not a number that JSON has');
    return value;
  }
  if (scalar === 'bool') return reader.flag();
  return scalar === 'int32' ? reader.int32() : reader.number();
}

/** Keys and values of maps are fields 1 and 2; no built-in type has a map of numbers. */
function entry(bytes: Buffer): { key: string; value: Buffer } {
  const reader = new WireReader(bytes);
  let key = '';
  let value: Buffer = NOTHING;
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) value = reader.bytes();
  }
  return { key, value };
}

function merged(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** Types that are messages in protobuf, and strings, numbers or JSON in JSON. */
import { ProtobufError, WireReader, type WireWriter } from '../../base/protobuf-wire.js';
import type { Json } from '../../kube/json.js';
import { canonicalQuantity } from '../values/quantity.js';
import type { SpecialType } from './message-table.js';

const MICROSECOND_NANOS = 1_000;
const SECOND_NANOS = 1_000_000_000;
/** Years of four digits, which is all that RFC 3339 has. */
const SECONDS_MIN = -62_167_219_200;
const SECONDS_MAX = 253_402_300_799;
const ZERO_TIME = '0001-01-01T00:00:00Z';
const INT32_MAX = 2 ** 31 - 1;

interface PlainForm {
  /** Undefined for Go's zero value if JSON has no form of it. */
  read(bytes: Buffer): Json | undefined;
  write(writer: WireWriter, value: Json): void;
}

const time: PlainForm = {
  read(bytes) {
    const parts = timestamp(bytes);
    return parts && `${wholeSeconds(parts.seconds)}Z`;
  },
  write: (writer, value) => writeTimestamp(writer, value, false),
};

const microTime: PlainForm = {
  read(bytes) {
    const parts = timestamp(bytes);
    if (parts === undefined) return undefined;
    const seconds = parts.seconds + Math.floor(parts.nanos / SECOND_NANOS);
    const nanos = ((parts.nanos % SECOND_NANOS) + SECOND_NANOS) % SECOND_NANOS;
    return `${wholeSeconds(seconds)}.${String(Math.floor(nanos / MICROSECOND_NANOS)).padStart(6, '0')}Z`;
  },
  write: (writer, value) => writeTimestamp(writer, value, true),
};

const quantity: PlainForm = {
  read(bytes) {
    const text = rawBytes(bytes).toString();
    try {
      return text === '' ? '0' : canonicalQuantity(text);
    } catch (error) {
      throw new ProtobufError((error as Error).message);
    }
  },
  write(writer, value) {
    if (typeof value !== 'string' && typeof value !== 'number') throw new ProtobufError('not a quantity');
    writer.text(1, String(value));
  },
};

const intOrString: PlainForm = {
  read(bytes) {
    const reader = new WireReader(bytes);
    let type = 0;
    let number = 0;
    let text = '';
    while (reader.next()) {
      if (reader.field === 1) type = reader.number();
      else if (reader.field === 2) number = reader.int32();
      else if (reader.field === 3) text = reader.text();
    }
    if (type !== 0 && type !== 1) throw new ProtobufError('impossible IntOrString.Type');
    return type === 0 ? number : text;
  },
  write(writer, value) {
    const isText = typeof value === 'string';
    if (!isText && (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > INT32_MAX + 1))
      throw new ProtobufError('neither a number nor text');
    writer
      .number(1, isText ? 1 : 0)
      .number(2, isText ? 0 : value)
      .text(3, isText ? value : '');
  },
};

/** Returns the bytes of JSON within a message: its first field. */
export function rawBytes(message: Buffer): Buffer {
  const reader = new WireReader(message);
  let raw: Buffer = Buffer.alloc(0);
  while (reader.next()) if (reader.field === 1) raw = reader.bytes();
  return raw;
}

const json: PlainForm = {
  read(bytes) {
    const raw = rawBytes(bytes);
    if (raw.length === 0) return undefined;
    try {
      return JSON.parse(raw.toString('utf8')) as Json;
    } catch {
      throw new ProtobufError('the JSON within the message is none');
    }
  },
  write(writer, value) {
    writer.text(1, JSON.stringify(value));
  },
};

export const PLAIN_FORMS = {
  Time: time,
  MicroTime: microTime,
  Quantity: quantity,
  IntOrString: intOrString,
  JSON: json,
  FieldsV1: json,
  RawExtension: json,
} satisfies Partial<Record<SpecialType, PlainForm>>;

/** The special types that are a schema, or something else in its place. */
export type SchemaType = Exclude<SpecialType, keyof typeof PLAIN_FORMS>;

export function isPlain(type: SpecialType): type is keyof typeof PLAIN_FORMS {
  return Object.hasOwn(PLAIN_FORMS, type);
}

function timestamp(bytes: Buffer): { seconds: number; nanos: number } | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new WireReader(bytes);
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.number();
    else if (reader.field === 2) nanos = reader.int32();
  }
  const time = wholeSeconds(seconds);
  return `${time}Z` === ZERO_TIME && nanos === 0 ? undefined : { seconds, nanos };
}

function wholeSeconds(seconds: number): string {
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) throw new ProtobufError('a time outside of the years 0 to 9999');
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

function writeTimestamp(writer: WireWriter, value: Json, withMicroseconds: boolean): void {
  if (value === null) return;
  const match = typeof value === 'string' ? /^([^.]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(value) : null;
  const [, whole, fraction = '', zone] = match ?? [];
  const milliseconds = match === null ? Number.NaN : Date.parse(`${whole}${zone}`);
  if (Number.isNaN(milliseconds)) throw new ProtobufError('not a time');
  if (`${whole}${zone}` === ZERO_TIME && !withMicroseconds) return;
  writer
    .number(1, milliseconds / 1000)
    .number(2, withMicroseconds ? Number(fraction.padEnd(6, '0').slice(0, 6)) * MICROSECOND_NANOS : 0);
}

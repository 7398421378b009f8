/** Types that are messages in protobuf and plain text or numbers in JSON. */
import type { Json } from '../../kube/json.js';
import { canonicalQuantity } from '../values/quantity.js';
import { ProtobufError } from './protobuf-error.js';
import { DELIMITED, VARINT, WireReader } from './wire-reader.js';
import { WireWriter } from './wire-writer.js';

const MICROSECOND_NANOS = 1_000;
const SECOND_NANOS = 1_000_000_000;
/** Years of four digits, which is all that RFC 3339 has. */
const SECONDS_MIN = -62_167_219_200;
const SECONDS_MAX = 253_402_300_799;
const ZERO_TIME = '0001-01-01T00:00:00Z';
const INT32_MAX = 2 ** 31 - 1;

export interface PlainForm {
  /** Undefined where Go has its zero value, and nothing that JSON could say. */
  read(bytes: Buffer): Json | undefined;
  write(value: Json): Buffer;
}

export const time: PlainForm = {
  read(bytes) {
    const parts = timestamp(bytes);
    return parts && `${wholeSeconds(parts.seconds)}Z`;
  },
  write: (value) => timestampBytes(value, false),
};

export const microTime: PlainForm = {
  read(bytes) {
    const parts = timestamp(bytes);
    if (parts === undefined) return undefined;
    const seconds = parts.seconds + Math.floor(parts.nanos / SECOND_NANOS);
    const nanos = ((parts.nanos % SECOND_NANOS) + SECOND_NANOS) % SECOND_NANOS;
    return `${wholeSeconds(seconds)}.${String(Math.floor(nanos / MICROSECOND_NANOS)).padStart(6, '0')}Z`;
  },
  write: (value) => timestampBytes(value, true),
};

export const quantity: PlainForm = {
  read(bytes) {
    const text = textField(bytes, 1);
    try {
      return text === '' ? '0' : canonicalQuantity(text);
    } catch (error) {
      throw new ProtobufError((error as Error).message);
    }
  },
  write(value) {
    if (typeof value !== 'string' && typeof value !== 'number') throw new ProtobufError('not a quantity');
    const writer = new WireWriter();
    writer.string(1, String(value));
    return writer.finish();
  },
};

export const intOrString: PlainForm = {
  read(bytes) {
    const reader = new WireReader(bytes);
    let type = 0;
    let number = 0;
    let text = '';
    while (reader.next()) {
      if (reader.number > 3) {
        reader.skip();
        continue;
      }
      reader.expect(reader.number === 3 ? DELIMITED : VARINT);
      if (reader.number === 1) type = reader.int64();
      else if (reader.number === 2) number = reader.int32();
      else text = reader.delimited().toString('utf8');
    }
    if (type !== 0 && type !== 1) throw new ProtobufError('impossible IntOrString.Type');
    return type === 0 ? number : text;
  },
  write(value) {
    const isText = typeof value === 'string';
    if (!isText && (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > INT32_MAX + 1))
      throw new ProtobufError('neither a number nor text');
    const writer = new WireWriter();
    writer.whole(1, isText ? 1 : 0);
    writer.whole(2, isText ? 0 : value);
    writer.string(3, isText ? value : '');
    return writer.finish();
  },
};

/** JSON within a message, as bytes at its first field. */
export function rawBytes(message: Buffer): Buffer {
  const reader = new WireReader(message);
  let raw: Buffer = Buffer.alloc(0);
  while (reader.next()) {
    if (reader.number === 1) {
      reader.expect(DELIMITED);
      raw = reader.delimited();
    } else reader.skip();
  }
  return raw;
}

export const json: PlainForm = {
  read(bytes) {
    const raw = rawBytes(bytes);
    if (raw.length === 0) return undefined;
    try {
      return JSON.parse(raw.toString('utf8')) as Json;
    } catch {
      throw new ProtobufError('the JSON within the message is none');
    }
  },
  write(value) {
    const writer = new WireWriter();
    writer.string(1, JSON.stringify(value));
    return writer.finish();
  },
};

function timestamp(bytes: Buffer): { seconds: number; nanos: number } | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new WireReader(bytes);
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.number > 2) {
      reader.skip();
      continue;
    }
    reader.expect(VARINT);
    if (reader.number === 1) seconds = reader.int64();
    else nanos = reader.int32();
  }
  const time = wholeSeconds(seconds);
  return `${time}Z` === ZERO_TIME && nanos === 0 ? undefined : { seconds, nanos };
}

function wholeSeconds(seconds: number): string {
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) throw new ProtobufError('a time outside of the years 0 to 9999');
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

function timestampBytes(value: Json, withMicroseconds: boolean): Buffer {
  if (value === null) return Buffer.alloc(0);
  const match = typeof value === 'string' ? /^([^.]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(value) : null;
  const [, whole, fraction = '', zone] = match ?? [];
  const milliseconds = match === null ? Number.NaN : Date.parse(`${whole}${zone}`);
  if (Number.isNaN(milliseconds)) throw new ProtobufError('not a time');
  if (`${whole}${zone}` === ZERO_TIME && !withMicroseconds) return Buffer.alloc(0);
  const writer = new WireWriter();
  writer.whole(1, milliseconds / 1000);
  writer.whole(2, withMicroseconds ? Number(fraction.padEnd(6, '0').slice(0, 6)) * MICROSECOND_NANOS : 0);
  return writer.finish();
}

function textField(bytes: Buffer, number: number): string {
  const reader = new WireReader(bytes);
  let text = '';
  while (reader.next()) {
    if (reader.number === number) {
      reader.expect(DELIMITED);
      text = reader.delimited().toString('utf8');
    } else reader.skip();
  }
  return text;
}

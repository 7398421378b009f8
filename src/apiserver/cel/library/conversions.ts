import { fail } from '../failure.js';
import { checkedInt, checkedUint } from '../integers.js';
import { declare, traversal } from '../overload.js';
import { characterCount } from '../text.js';
import { duration, formatDuration, formatTimestamp, parseDuration, parseTimestamp, timestamp } from '../time-text.js';
import {
  CelDouble,
  type CelDuration,
  type CelInt,
  type CelList,
  type CelTimestamp,
  CelTypeValue,
  CelUint,
  INT_MAX,
  INT_MIN,
  type MapValue,
  typeNameOf,
  UINT_MAX,
  type Value,
} from '../values.js';
import { formatDouble } from './decimal-text.js';

const same = (value: Value): Value => value;
const SECOND = 1_000_000_000n;

export const CONVERSIONS = [
  declare('size(string) -> int', characterCount),
  declare('size(bytes) -> int', (bytes: Uint8Array) => bytes.length),
  declare('size(list<A>) -> int', ({ items }: CelList) => items.length),
  declare('size(map<A, B>) -> int', (map: MapValue) => map.size),
  declare('string::size() -> int', characterCount),
  declare('bytes::size() -> int', (bytes: Uint8Array) => bytes.length),
  declare('list<A>::size() -> int', ({ items }: CelList) => items.length),
  declare('map<A, B>::size() -> int', (map: MapValue) => map.size),

  declare('type(A) -> type<A>', (value: Value) => new CelTypeValue(typeNameOf(value))),
  declare('dyn(A) -> dyn', same),

  declare('bool(bool) -> bool', same),
  declare('bool(string) -> bool', boolFromText),

  declare('int(int) -> int', same),
  declare('int(double) -> int', ({ value }: CelDouble) => intFromDouble(value)),
  declare('int(uint) -> int', ({ value }: CelUint) => checkedInt(value)),
  declare('int(string) -> int', intFromText),
  declare('int(timestamp) -> int', ({ nanos }: CelTimestamp) => checkedInt(floorSeconds(nanos))),
  declare('int(duration) -> int', ({ nanos }: CelDuration) => checkedInt(nanos)),

  declare('uint(uint) -> uint', same),
  declare('uint(int) -> uint', (value: CelInt) => checkedUint(BigInt(value))),
  declare('uint(double) -> uint', ({ value }: CelDouble) => uintFromDouble(value)),
  declare('uint(string) -> uint', uintFromText),

  declare('double(double) -> double', same),
  declare('double(int) -> double', (value: CelInt) => new CelDouble(Number(value))),
  declare('double(uint) -> double', ({ value }: CelUint) => new CelDouble(Number(value))),
  declare('double(string) -> double', doubleFromText),

  declare('string(string) -> string', same),
  declare('string(bool) -> string', (value: boolean) => String(value)),
  declare('string(int) -> string', (value: CelInt) => String(value)),
  declare('string(uint) -> string', ({ value }: CelUint) => String(value)),
  declare('string(double) -> string', ({ value }: CelDouble) => formatDouble(value)),
  declare('string(bytes) -> string', stringFromBytes, traversal()),
  declare('string(timestamp) -> string', formatTimestamp),
  declare('string(duration) -> string', formatDuration),

  declare('bytes(bytes) -> bytes', same),
  declare('bytes(string) -> bytes', (text: string) => new TextEncoder().encode(text), traversal()),

  declare('timestamp(timestamp) -> timestamp', same),
  declare('timestamp(string) -> timestamp', reading('google.protobuf.Timestamp', parseTimestamp)),
  declare('timestamp(int) -> timestamp', (seconds: CelInt) => timestamp(BigInt(seconds) * SECOND)),
  declare('duration(duration) -> duration', same),
  declare('duration(int) -> duration', (nanos: CelInt) => duration(BigInt(nanos))),
  declare('duration(string) -> duration', reading('google.protobuf.Duration', parseDuration)),
];

function cannotConvert(type: string): never {
  return fail(`type conversion error from 'string' to '${type}'`);
}

/** Wraps a parser so that its failures become conversion errors. */
function reading<T extends Value>(type: string, read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch {
      return cannotConvert(type);
    }
  };
}

function boolFromText(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  return cannotConvert('bool');
}

function intFromDouble(value: number): CelInt {
  if (Number.isNaN(value) || value >= 2 ** 63 || value <= -(2 ** 63)) return fail('integer overflow');
  return checkedInt(BigInt(Math.trunc(value)));
}

function uintFromDouble(value: number): CelUint {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return fail('unsigned integer overflow');
  return checkedUint(BigInt(Math.trunc(value)));
}

function intFromText(text: string): CelInt {
  const value = /^[+-]?\d{1,30}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined || value < INT_MIN || value > INT_MAX) {
    return cannotConvert('int');
  }
  return checkedInt(value);
}

function uintFromText(text: string): CelUint {
  const value = /^\d{1,30}$/.test(text) ? BigInt(text) : undefined;
  return value === undefined || value > UINT_MAX ? cannotConvert('uint') : new CelUint(value);
}

function doubleFromText(text: string): CelDouble {
  const special: Readonly<Record<string, number>> = {
    nan: Number.NaN,
    inf: Infinity,
    '+inf': Infinity,
    '-inf': -Infinity,
    infinity: Infinity,
    '+infinity': Infinity,
    '-infinity': -Infinity,
  };
  const named = special[text.toLowerCase()];
  if (named !== undefined) return new CelDouble(named);
  const bare = text.replace(/(?<=\d)_(?=\d)/g, '');
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(bare)) {
    return cannotConvert('double');
  }
  return new CelDouble(Number(bare));
}

function stringFromBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function floorSeconds(nanos: bigint): bigint {
  const seconds = nanos / SECOND;
  return nanos < 0n && nanos % SECOND !== 0n ? seconds - 1n : seconds;
}

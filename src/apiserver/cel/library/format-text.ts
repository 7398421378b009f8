import { fail } from '../failure.js';
import { checkTextLength } from '../text.js';
import { formatDuration, formatTimestamp } from '../time-text.js';
import {
  CelDouble,
  CelDuration,
  CelList,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  MapValue,
  typeNameOf,
  type Value,
} from '../values.js';
import { fixedPoint, formatDouble, scientific } from './decimal-text.js';
import { quote } from './quote.js';

const CLAUSE = /%(?:\.(\d*))?(.)?/gsu;
const PRECISION_DEFAULT = 6;
const PRECISION_MAX = 100;

/** `'%d of %s'.format([1, 'two'])` */
export function formatText(pattern: string, { items }: CelList): string {
  let used = 0;
  const text = pattern.replace(CLAUSE, (_, precision: string | undefined, verb: string | undefined) => {
    if (verb === '%') return '%';
    if (verb === undefined) return fail('unexpected end of string');
    if (used >= items.length) return fail(`index ${used} out of range`);
    return clause(verb, precision, items[used++]!);
  });
  checkTextLength(text.length);
  return text;
}

function clause(verb: string, precision: string | undefined, value: Value): string {
  const digits = Math.min(PRECISION_MAX, precision === undefined ? PRECISION_DEFAULT : Number(precision));
  switch (verb) {
    case 's':
      return display(value, { length: 0 });
    case 'd':
      return decimal(value);
    case 'f':
      return floating(value, 'fixed-point', (number) => fixedPoint(number, digits));
    case 'e':
      return floating(value, 'scientific', (number) => scientific(number, PRECISION_DEFAULT));
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : wholeNumber(value, verb).toString(2);
    case 'o':
      return wholeNumber(value, verb).toString(8);
    case 'x':
    case 'X': {
      const text = hexadecimal(value, verb);
      return verb === 'X' ? text.toUpperCase() : text;
    }
    default:
      return fail(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

/** The text of `%s`. `made` bounds the total length: values may contain one another many times. */
function display(value: Value, made: { length: number }): string {
  const text = displayOne(value, made);
  made.length += text.length;
  checkTextLength(made.length);
  return text;
}

function displayOne(value: Value, made: { length: number }): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof CelDouble) return formatDouble(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelList) return `[${value.items.map((each) => element(each, made)).join(', ')}]`;
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => `${element(key, made)}:${element(value.find(key)!, made)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  return bad(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

/** The text of an item in a list or map, which shows its type. */
function element(value: Value, made: { length: number }): string {
  if (value instanceof CelDouble && Number.isFinite(value.value)) return fixedPoint(value.value, PRECISION_DEFAULT);
  const text = display(value, made);
  if (typeof value === 'string') return quote(text);
  if (value instanceof Uint8Array) return `b${quote(text)}`;
  if (value instanceof CelTimestamp) return `timestamp(${quote(text)})`;
  return value instanceof CelDuration ? `duration(${quote(text)})` : text;
}

function decimal(value: Value): string {
  if (value instanceof CelUint) return String(value.value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return bad('decimal clause can only be used on integers', value);
}

function floating(value: Value, clause: string, print: (number: number) => string): string {
  if (!(value instanceof CelDouble)) return bad(`${clause} clause can only be used on doubles`, value);
  return Number.isFinite(value.value) ? print(value.value) : infinite(value.value);
}

function infinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function wholeNumber(value: Value, verb: string): bigint {
  if (value instanceof CelUint) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  return bad(
    verb === 'o' ? 'octal clause can only be used on integers' : 'only integers and bools can be formatted as binary',
    value,
  );
}

function hexadecimal(value: Value, verb: string): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof CelUint || typeof value === 'number' || typeof value === 'bigint') {
    return wholeNumber(value, verb).toString(16);
  }
  return bad('only integers, byte buffers, and strings can be formatted as hex', value);
}

function bad(rule: string, value: Value): never {
  return fail(`error during formatting: ${rule}, was given ${typeNameOf(value)}`);
}

import { jsonEqual } from '../../kube/json.js';
import { compareQuantities } from '../values/quantity.js';
import { CelBudgetExceeded, fail, noSuchOverload } from './failure.js';
import { JsonMap, StructValue } from './json-values.js';
import {
  CelCidr,
  CelDouble,
  CelDuration,
  CelFormat,
  CelIp,
  CelList,
  CelOptional,
  CelQuantity,
  CelSemver,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  CelUrl,
  kindOf,
  MapValue,
  type Value,
} from './values.js';

let comparisons = 0;

/** Bound on comparisons: values that an expression creates can contain one another many times. */
const COMPARISONS_MAX = 3_000_000;

/** Returns and resets the number of items and members compared, which the caller charges. */
export function takeComparisons(): number {
  const count = comparisons;
  comparisons = 0;
  return count;
}

function note(count: number): void {
  comparisons += count;
  if (comparisons > COMPARISONS_MAX) {
    comparisons = 0;
    throw new CelBudgetExceeded();
  }
}

/** Values of different types are not equal, except numbers that are the same one. */
export function equals(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left === 'string' || typeof left === 'boolean' || left === null) return false;
  if (isNumber(left)) return isNumber(right) && compareNumbers(left, right) === 0;
  if (left instanceof CelList) return right instanceof CelList && listsEqual(left, right);
  if (left instanceof MapValue) return right instanceof MapValue && mapsEqual(left, right);
  if (left instanceof CelTimestamp) return right instanceof CelTimestamp && left.nanos === right.nanos;
  if (left instanceof CelDuration) return right instanceof CelDuration && left.nanos === right.nanos;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof CelTypeValue) return right instanceof CelTypeValue && left.name === right.name;
  if (left instanceof CelOptional) return right instanceof CelOptional && optionalsEqual(left, right);
  return kindOf(left) === kindOf(right) && opaqueEqual(left, right);
}

function opaqueEqual(left: Value, right: Value): boolean {
  if (left instanceof CelQuantity && right instanceof CelQuantity) {
    return compareQuantities(left.quantity, right.quantity) === 0;
  }
  if (left instanceof CelIp && right instanceof CelIp) return Buffer.compare(left.bytes, right.bytes) === 0;
  if (left instanceof CelCidr && right instanceof CelCidr) {
    return left.prefixBits === right.prefixBits && opaqueEqual(left.address, right.address);
  }
  if (left instanceof CelUrl && right instanceof CelUrl) return left.parts.text === right.parts.text;
  if (left instanceof CelFormat && right instanceof CelFormat) return left.name === right.name;
  if (left instanceof CelSemver && right instanceof CelSemver) return compareSemvers(left, right) === 0;
  return false;
}

function optionalsEqual(left: CelOptional, right: CelOptional): boolean {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equals(left.value, right.value);
}

function listsEqual(left: CelList, right: CelList): boolean {
  if (left.items.length !== right.items.length) return false;
  note(left.items.length);
  // The list type of the left side decides how to compare.
  if (left.listType === undefined) return left.items.every((each, index) => equals(each, right.items[index]!));
  const others = new Map(right.items.map((each) => [itemKey(each, left), each]));
  return left.items.every((each) => {
    const other = others.get(itemKey(each, left));
    return other !== undefined && equals(each, other);
  });
}

/** The identity of an item in a set or in a list with keys. */
export function itemKey(item: Value, { listType, listKeys }: CelList): string {
  if (listType === 'map' && item instanceof StructValue) {
    return JSON.stringify(listKeys.map((name) => item.raw[name] ?? null));
  }
  if (item instanceof StructValue || item instanceof JsonMap) return JSON.stringify(item.raw);
  if (item instanceof CelDouble) return String(item.value);
  return typeof item === 'string' ? JSON.stringify(item) : String(item);
}

function mapsEqual(left: MapValue, right: MapValue): boolean {
  if (left.size !== right.size) return false;
  note(left.size);
  if (left instanceof StructValue && right instanceof StructValue && !structsEqual(left, right)) return false;
  return left.keys().every((key) => {
    const value = left.find(key);
    const other = right.find(key);
    return value !== undefined && other !== undefined && equals(value, other);
  });
}

/** Members that the schema does not name are compared as JSON. */
function structsEqual(left: StructValue, right: StructValue): boolean {
  const known = new Set([...left.type.fields!.values()].map(({ name }) => name));
  return Object.keys(left.raw).every((name) => known.has(name) || jsonEqual(left.raw[name], right.raw[name]));
}

type NumberValue = number | bigint | CelDouble | CelUint;

export function isNumber(value: Value): value is NumberValue {
  return (
    typeof value === 'number' || typeof value === 'bigint' || value instanceof CelDouble || value instanceof CelUint
  );
}

/** The order of numbers of all types; NaN has none. */
function compareNumbers(left: NumberValue, right: NumberValue): number {
  const a = plain(left);
  const b = plain(right);
  // JavaScript compares number with bigint by their mathematical values.
  if (a < b) return -1;
  if (a > b) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0;
}

function plain(value: NumberValue): number | bigint {
  return value instanceof CelDouble || value instanceof CelUint ? value.value : value;
}

/** The order of two values; throws CelFailure for values without an order. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string') return typeof right === 'string' ? compareStrings(left, right) : noSuchOverload();
  if (isNumber(left)) {
    const order = isNumber(right) ? compareNumbers(left, right) : noSuchOverload();
    return Number.isNaN(order) ? fail('NaN values cannot be ordered') : order;
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof CelTimestamp && right instanceof CelTimestamp) return sign(left.nanos - right.nanos);
  if (left instanceof CelDuration && right instanceof CelDuration) return sign(left.nanos - right.nanos);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return noSuchOverload();
}

/** By code points, which is the order of their bytes in UTF-8, not of JavaScript's code units. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left.charCodeAt(index) === right.charCodeAt(index)) index++;
  if (index === end) return left.length - right.length;
  const a = left.charCodeAt(index);
  const b = right.charCodeAt(index);
  const isSurrogateA = a >= 0xd800 && a <= 0xdfff;
  const isSurrogateB = b >= 0xd800 && b <= 0xdfff;
  return isSurrogateA === isSurrogateB ? a - b : isSurrogateA ? 1 : -1;
}

export function compareSemvers(left: CelSemver, right: CelSemver): number {
  const byNumber = left.major - right.major || left.minor - right.minor || left.patch - right.patch;
  if (byNumber !== 0n) return sign(byNumber);
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return Math.sign(right.prerelease.length - left.prerelease.length);
  }
  for (const [index, each] of left.prerelease.entries()) {
    const other = right.prerelease[index];
    if (other === undefined) return 1;
    const order = comparePrerelease(each, other);
    if (order !== 0) return order;
  }
  return left.prerelease.length === right.prerelease.length ? 0 : -1;
}

function comparePrerelease(left: string, right: string): number {
  const isNumeric = (text: string): boolean => /^\d+$/.test(text);
  if (isNumeric(left) && isNumeric(right)) return sign(BigInt(left) - BigInt(right));
  if (isNumeric(left) !== isNumeric(right)) return isNumeric(left) ? -1 : 1;
  return Math.sign(compareStrings(left, right));
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0;
}

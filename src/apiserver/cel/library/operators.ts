import { CHARACTER_COST } from '../budget.js';
import { compareValues, equals, itemKey } from '../compare.js';
import { fail, noSuchOverload } from '../failure.js';
import { addInts, checkedUint, divideInts, multiplyInts, negateInt, remainderInts, subtractInts } from '../integers.js';
import { type CallCost, declare } from '../overload.js';
import { checkListLength, checkTextLength } from '../text.js';
import { duration, timestamp } from '../time-text.js';
import {
  CelDouble,
  type CelDuration,
  type CelInt,
  CelList,
  CelMap,
  type CelTimestamp,
  CelUint,
  intFrom,
  MapValue,
  sizeOf,
  typeNameOf,
  type Value,
} from '../values.js';

const smaller: CallCost = ([left, right]) => Math.ceil(Math.min(sizeOf(left!), sizeOf(right!)) * CHARACTER_COST);
const both: CallCost = ([left, right]) => Math.ceil((sizeOf(left!) + sizeOf(right!)) * CHARACTER_COST);
const nowhere = (): never => fail('operators of logic are not called');

const ARITHMETIC = [
  declare('_+_(int, int) -> int', addInts),
  declare('_+_(uint, uint) -> uint', (a: CelUint, b: CelUint) => checkedUint(a.value + b.value)),
  declare('_+_(double, double) -> double', (a: CelDouble, b: CelDouble) => new CelDouble(a.value + b.value)),
  declare('_+_(string, string) -> string', concatenate, both),
  declare('_+_(bytes, bytes) -> bytes', concatenateBytes, both),
  declare('_+_(list<A>, list<A>) -> list<A>', concatenateLists),
  declare('_+_(timestamp, duration) -> timestamp', (a: CelTimestamp, b: CelDuration) =>
    timestamp(a.nanos + b.nanos, a.offsetMinutes),
  ),
  declare('_+_(duration, timestamp) -> timestamp', (a: CelDuration, b: CelTimestamp) =>
    timestamp(a.nanos + b.nanos, b.offsetMinutes),
  ),
  declare('_+_(duration, duration) -> duration', (a: CelDuration, b: CelDuration) => duration(a.nanos + b.nanos)),
  declare('_-_(int, int) -> int', subtractInts),
  declare('_-_(uint, uint) -> uint', (a: CelUint, b: CelUint) => checkedUint(a.value - b.value)),
  declare('_-_(double, double) -> double', (a: CelDouble, b: CelDouble) => new CelDouble(a.value - b.value)),
  declare('_-_(timestamp, duration) -> timestamp', (a: CelTimestamp, b: CelDuration) =>
    timestamp(a.nanos - b.nanos, a.offsetMinutes),
  ),
  declare('_-_(timestamp, timestamp) -> duration', (a: CelTimestamp, b: CelTimestamp) => duration(a.nanos - b.nanos)),
  declare('_-_(duration, duration) -> duration', (a: CelDuration, b: CelDuration) => duration(a.nanos - b.nanos)),
  declare('_*_(int, int) -> int', multiplyInts),
  declare('_*_(uint, uint) -> uint', (a: CelUint, b: CelUint) => checkedUint(a.value * b.value)),
  declare('_*_(double, double) -> double', (a: CelDouble, b: CelDouble) => new CelDouble(a.value * b.value)),
  declare('_/_(int, int) -> int', divideInts),
  declare('_/_(uint, uint) -> uint', (a: CelUint, b: CelUint) =>
    b.value === 0n ? fail('division by zero') : new CelUint(a.value / b.value),
  ),
  declare('_/_(double, double) -> double', (a: CelDouble, b: CelDouble) => new CelDouble(a.value / b.value)),
  declare('_%_(int, int) -> int', remainderInts),
  declare('_%_(uint, uint) -> uint', (a: CelUint, b: CelUint) =>
    b.value === 0n ? fail('modulus by zero') : new CelUint(a.value % b.value),
  ),
  declare('-_(int) -> int', negateInt),
  declare('-_(double) -> double', (a: CelDouble) => new CelDouble(-a.value)),
];

const ORDERED = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const NUMERIC = ['int', 'uint', 'double'];
const ORDER: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

const COMPARISONS = Object.entries(ORDER).flatMap(([name, holds]) => {
  const run = (left: Value, right: Value): boolean => holds(compareValues(left, right));
  const mixed = NUMERIC.flatMap((left) => NUMERIC.filter((right) => right !== left).map((right) => [left, right]));
  const pairs = [...ORDERED.map((each) => [each, each]), ...mixed];
  return pairs.map(([left, right]) => declare(`${name}(${left}, ${right}) -> bool`, run, smaller));
});

const RELATIONS = [
  declare('_==_(A, A) -> bool', (a: Value, b: Value) => equals(a, b), smaller),
  declare('_!=_(A, A) -> bool', (a: Value, b: Value) => !equals(a, b), smaller),
  declare(
    '@in(A, list<A>) -> bool',
    (item: Value, { items }: CelList) => items.some((each) => equals(each, item)),
    (args) => sizeOf(args[1]!),
  ),
  declare('@in(A, map<A, B>) -> bool', (key: Value, map: MapValue) => map.find(key) !== undefined),
  declare('_[_](list<A>, int) -> A', itemAt),
  declare('_[_](map<A, B>, A) -> B', memberAt),
];

const LOGIC = [
  declare('_&&_(bool, bool) -> bool', nowhere),
  declare('_||_(bool, bool) -> bool', nowhere),
  declare('!_(bool) -> bool', (value: boolean) => !value),
  declare('_?_:_(bool, A, A) -> A', nowhere),
];

export const OPERATORS = [...ARITHMETIC, ...COMPARISONS, ...RELATIONS, ...LOGIC];

function concatenate(left: string, right: string): string {
  checkTextLength(left.length + right.length);
  return left + right;
}

function concatenateBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  checkTextLength(left.length + right.length);
  return Uint8Array.from(Buffer.concat([left, right]));
}

/** Adds two lists: sets are united, lists with keys are merged; items of the left list keep their places. */
function concatenateLists(left: CelList, right: CelList): CelList {
  checkListLength(left.items.length + right.items.length);
  if (left.listType === undefined) return new CelList([...left.items, ...right.items]);
  const items = [...left.items];
  const places = new Map(items.map((each, index) => [itemKey(each, left), index]));
  for (const each of right.items) {
    const place = places.get(itemKey(each, left));
    if (place === undefined) items.push(each);
    else if (left.listType === 'map') items[place] = each;
    if (place === undefined) places.set(itemKey(each, left), items.length - 1);
  }
  return new CelList(items, left.listType, left.listKeys);
}

function itemAt({ items }: CelList, index: CelInt): Value {
  const item = items[Number(index)];
  return item === undefined ? fail(`index out of bounds: ${index}`) : item;
}

/** The item or member of a value that may be a list or a map. */
export function elementOf(target: Value, key: Value): Value {
  if (target instanceof MapValue) return memberAt(target, key);
  if (!(target instanceof CelList)) return noSuchOverload();
  if (typeof key === 'number' || typeof key === 'bigint') return itemAt(target, key);
  if (key instanceof CelUint) return itemAt(target, intFrom(key.value));
  if (key instanceof CelDouble) return fail(`unsupported index: ${key.value}`);
  return fail(`unsupported index type '${typeNameOf(key)}' in list`);
}

function memberAt(map: MapValue, key: Value): Value {
  // The keys of objects are strings.
  if (!(map instanceof CelMap) && typeof key !== 'string') return noSuchOverload();
  const value = map.find(key);
  return value === undefined ? fail(`no such key: ${keyText(key)}`) : value;
}

function keyText(key: Value): string {
  return key instanceof CelUint || key instanceof CelDouble ? String(key.value) : String(key);
}

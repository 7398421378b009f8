import { CHARACTER_COST, LIST_COST } from '../budget.js';
import { compareValues, equals } from '../compare.js';
import { fail, noSuchOverload } from '../failure.js';
import { addInts, checkedUint } from '../integers.js';
import { type CallCost, declare } from '../overload.js';
import { checkListLength } from '../text.js';
import { duration } from '../time-text.js';
import { CelDouble, CelDuration, type CelInt, CelList, CelUint, kindOf, sizeOf, type Value } from '../values.js';

const ORDERED = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const SUMMED = ['int', 'uint', 'double', 'duration'];

const walk: CallCost = ([list]) => {
  let cost = 0;
  for (const each of (list as CelList).items) {
    cost += typeof each === 'string' || each instanceof Uint8Array ? Math.floor(sizeOf(each) * CHARACTER_COST) : 1;
  }
  return cost;
};
/** The cost of comparing every item with every other. */
export const pairwise: CallCost = (args) => {
  const list = args.at(-1) as CelList;
  const isText = typeof list.items[0] === 'string' || list.items[0] instanceof Uint8Array;
  return Math.floor(list.items.length ** 2 * (isText ? 2 + CHARACTER_COST : 2)) + 1 + LIST_COST;
};
const result: CallCost = (_, made) => sizeOf(made) + 1 + LIST_COST;
const flattened: CallCost = ([list, depth]) => sizeOf(list!) * Math.max(1, Number(depth ?? 1)) + 1 + LIST_COST;

export const LISTS = [
  ...ORDERED.flatMap((type) => [
    declare(`list<${type}>::isSorted() -> bool`, isSorted, walk),
    declare(`list<${type}>::min() -> ${type}`, (list: CelList) => extreme(list, 'min', -1), walk),
    declare(`list<${type}>::max() -> ${type}`, (list: CelList) => extreme(list, 'max', 1), walk),
    declare(`list<${type}>::sort() -> list<${type}>`, (list: CelList) => sortBy(list, list), pairwise),
  ]),
  ...SUMMED.map((type) => declare(`list<${type}>::sum() -> ${type}`, (list: CelList) => sum(list, type), walk)),
  declare(
    'list<A>::indexOf(A) -> int',
    ({ items }: CelList, item: Value) => items.findIndex((each) => equals(each, item)),
    walk,
  ),
  declare(
    'list<A>::lastIndexOf(A) -> int',
    ({ items }: CelList, item: Value) => items.findLastIndex((each) => equals(each, item)),
    walk,
  ),
  declare('list<A>::slice(int, int) -> list<A>', slice, result),
  declare('list<list<A>>::flatten() -> list<A>', flatten, flattened),
  declare('list<dyn>::flatten(int) -> list<dyn>', flatten, flattened),
  declare('list<A>::reverse() -> list<A>', ({ items }: CelList) => new CelList([...items].reverse()), result),
  declare('list<A>::distinct() -> list<A>', distinct, pairwise),
  declare('lists.range(int) -> list<int>', range, result),
];

/** Sorts items by their keys; the sort is stable. */
export function sortBy({ items }: CelList, { items: keys }: CelList): CelList {
  if (keys.some((each) => kindOf(each) !== kindOf(keys[0]!))) return fail('list elements must have the same type');
  const order = items.map((_, index) => index).sort((a, b) => compareValues(keys[a]!, keys[b]!));
  return new CelList(order.map((index) => items[index]!));
}

function isSorted({ items }: CelList): boolean {
  return items.every((each, index) => index === 0 || compareValues(items[index - 1]!, each) <= 0);
}

function extreme({ items }: CelList, name: string, sign: number): Value {
  if (items.length === 0) return fail(`${name} called on empty list`);
  return items.reduce((best, each) => (compareValues(each, best) * sign > 0 ? each : best));
}

/** The sum of the items; that of an empty list depends on its declared type. */
function sum({ items }: CelList, type: string): Value {
  if (items.length > 0) return items.reduce(add);
  if (type === 'double') return new CelDouble(0);
  if (type === 'uint') return new CelUint(0n);
  return type === 'duration' ? new CelDuration(0n) : 0;
}

function add(left: Value, right: Value): Value {
  if (isInt(left) && isInt(right)) return addInts(left, right);
  if (left instanceof CelDouble && right instanceof CelDouble) return new CelDouble(left.value + right.value);
  if (left instanceof CelUint && right instanceof CelUint) return checkedUint(left.value + right.value);
  if (left instanceof CelDuration && right instanceof CelDuration) return duration(left.nanos + right.nanos);
  return noSuchOverload();
}

function isInt(value: Value): value is CelInt {
  return typeof value === 'number' || typeof value === 'bigint';
}

function slice({ items }: CelList, start: CelInt, end: CelInt): CelList {
  const what = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return fail(`${what}, negative indexes not supported`);
  if (start > end) return fail(`${what}, start index must be less than or equal to end index`);
  if (end > items.length) return fail(`${what}, list is length ${items.length}`);
  return new CelList(items.slice(Number(start), Number(end)));
}

function flatten({ items }: CelList, depth: CelInt = 1): CelList {
  if (depth < 0) return fail('level must be non-negative');
  const flat: Value[] = [];
  const visit = (list: readonly Value[], level: number): void => {
    for (const each of list) {
      if (each instanceof CelList && level > 0) visit(each.items, level - 1);
      else flat.push(each);
      checkListLength(flat.length);
    }
  };
  visit(items, Number(depth));
  return new CelList(flat);
}

function distinct({ items }: CelList): CelList {
  // Every pair is compared, and costs.
  checkListLength(items.length ** 2);
  const kept: Value[] = [];
  for (const each of items) if (!kept.some((other) => equals(other, each))) kept.push(each);
  return new CelList(kept);
}

function range(count: CelInt): CelList {
  checkListLength(Number(count));
  return new CelList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => index));
}

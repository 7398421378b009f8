import { equals } from '../compare.js';
import { type CallCost, declare } from '../overload.js';
import type { CelList } from '../values.js';

const pairs: CallCost = (args) => (args[0] as CelList).items.length * (args[1] as CelList).items.length + 1;

export const SETS = [
  declare('sets.contains(list<A>, list<A>) -> bool', contains, pairs),
  declare(
    'sets.equivalent(list<A>, list<A>) -> bool',
    (a: CelList, b: CelList) => contains(a, b) && contains(b, a),
    (args, result) => 2 * pairs(args, result) - 1,
  ),
  declare(
    'sets.intersects(list<A>, list<A>) -> bool',
    (a: CelList, b: CelList) => a.items.some((each) => has(b, each)),
    pairs,
  ),
];

function contains(list: CelList, part: CelList): boolean {
  return part.items.every((each) => has(list, each));
}

function has({ items }: CelList, item: CelList['items'][number]): boolean {
  return items.some((each) => equals(each, item));
}

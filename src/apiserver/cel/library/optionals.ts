import { fail } from '../failure.js';
import { declare } from '../overload.js';
import {
  CelDouble,
  CelDuration,
  type CelInt,
  CelList,
  CelOptional,
  CelTimestamp,
  CelUint,
  MapValue,
  NONE,
  type Value,
} from '../values.js';

export const OPTIONALS = [
  declare('optional.of(A) -> optional<A>', (value: Value) => new CelOptional(value)),
  declare('optional.ofNonZeroValue(A) -> optional<A>', (value: Value) =>
    isZero(value) ? NONE : new CelOptional(value),
  ),
  declare('optional.none() -> optional<A>', () => NONE),
  declare('optional<A>::value() -> A', ({ value }: CelOptional) =>
    value === undefined ? fail('optional.none() dereference') : value,
  ),
  declare('optional<A>::hasValue() -> bool', ({ value }: CelOptional) => value !== undefined),
  declare('optional<A>::or(optional<A>) -> optional<A>', (left: CelOptional, right: CelOptional) =>
    left.value === undefined ? right : left,
  ),
  declare('optional<A>::orValue(A) -> A', ({ value }: CelOptional, other: Value) =>
    value === undefined ? other : value,
  ),
  declare('_[?_](list<A>, int) -> optional<A>', itemIn),
  declare('_[?_](optional<list<A>>, int) -> optional<A>', itemOfOptional),
  declare('_[?_](map<A, B>, A) -> optional<B>', memberIn),
  declare('_[?_](optional<map<A, B>>, A) -> optional<B>', memberOfOptional),
  declare('_[_](optional<list<A>>, int) -> optional<A>', itemOfOptional),
  declare('_[_](optional<map<A, B>>, A) -> optional<B>', memberOfOptional),
  declare('list<A>::first() -> optional<A>', ({ items }: CelList) => optional(items[0])),
  declare('list<A>::last() -> optional<A>', ({ items }: CelList) => optional(items.at(-1))),
  declare('optional.unwrap(list<optional<A>>) -> list<A>', unwrap),
  declare('list<optional<A>>::unwrapOpt() -> list<A>', unwrap),
];

export function optional(value: Value | undefined): CelOptional {
  return value === undefined ? NONE : new CelOptional(value);
}

function itemIn({ items }: CelList, index: CelInt): CelOptional {
  return optional(items[Number(index)]);
}

function itemOfOptional({ value }: CelOptional, index: CelInt): CelOptional {
  return value instanceof CelList ? itemIn(value, index) : NONE;
}

function memberIn(map: MapValue, key: Value): CelOptional {
  return optional(map.find(key));
}

function memberOfOptional({ value }: CelOptional, key: Value): CelOptional {
  return value instanceof MapValue ? memberIn(value, key) : NONE;
}

function unwrap({ items }: CelList): CelList {
  return new CelList(
    items.flatMap((each) => (each instanceof CelOptional && each.value !== undefined ? [each.value] : [])),
  );
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (value instanceof CelDouble || value instanceof CelUint) return Number(value.value) === 0;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return value.nanos === -62_135_596_800_000_000_000n;
  if (value instanceof CelList) return value.items.length === 0;
  if (value instanceof MapValue) return value.size === 0;
  return value instanceof Uint8Array && value.length === 0;
}

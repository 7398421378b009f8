import { CHARACTER_COST, LIST_COST, PATTERN_COST } from './budget.js';
import type { CelType } from './cel-types.js';
import {
  addSizes,
  addUp,
  type Estimate,
  multiply,
  multiplySizes,
  type Size,
  scale,
  UNKNOWN,
  unionOf,
} from './estimate-size.js';
import type { Expr } from './syntax.js';

export interface CallNode extends Estimate {
  readonly expr: Expr;
  readonly type: CelType;
}

interface CallEstimate {
  readonly cost: number;
  readonly size?: Size | undefined;
  readonly item?: Size | undefined;
}

/** What one call adds, without its arguments; undefined for what always costs one. */
type Rule = (args: readonly CallNode[], isMember: boolean) => CallEstimate | undefined;

/** The most that a call costs, with its arguments, and how large its result can be. A member's target is the first. */
export function callEstimate(name: string, args: readonly CallNode[], isMember: boolean): CallEstimate {
  const costs = addUp(...args.map(({ cost }) => cost));
  if (name === '_?_:_') return conditional(args);
  if (name === '_&&_' || name === '_||_') return { cost: costs };
  if (name === 'dyn') return { cost: addUp(costs, 1), size: args[0]!.size, item: args[0]!.item };
  const own = Object.hasOwn(RULES, name) ? RULES[name]!(args, isMember) : undefined;
  if (own === undefined) return { cost: addUp(costs, 1) };
  return { ...own, cost: addUp(costs, own.cost) };
}

function conditional([condition, yes, no]: readonly CallNode[]): CallEstimate {
  const item = yes!.item === undefined || no!.item === undefined ? undefined : unionOf(yes!.item, no!.item);
  return {
    cost: addUp(condition!.cost, Math.max(yes!.cost, no!.cost)),
    size: unionOf(sizeOf(yes), sizeOf(no)),
    item,
  };
}

function sizeOf(node: CallNode | undefined): Size {
  return node?.size ?? UNKNOWN;
}

/** The price of walking over the text of one argument, which may also be how large the result is. */
const textWalk =
  (index: number, times: number, isSized: boolean): Rule =>
  (args) => {
    const size = sizeOf(args[index]);
    return { cost: scale(size.max, times * CHARACTER_COST), ...(isSized ? { size } : {}) };
  };

const compared: Rule = ([left, right]) => {
  if (left!.type.kind === 'opaque') return { cost: 1 };
  const smallest = Math.min(sizeOf(left).max, sizeOf(right).max);
  return { cost: scale(smallest, CHARACTER_COST) };
};

/** Of numbers and times it always costs the same. */
const ordered: Rule = (args, isMember) => {
  const kinds = args.map(({ type }) => type.kind);
  if (kinds.includes('dyn')) return { cost: Math.max(1, compared(args, isMember)!.cost) };
  return kinds.includes('string') || kinds.includes('bytes') ? compared(args, isMember) : undefined;
};

const matched: Rule = ([text, pattern]) => {
  const textCost = scale(addUp(sizeOf(text).max, 1), CHARACTER_COST);
  return {
    cost: multiply(textCost, scale(sizeOf(pattern).max, PATTERN_COST)),
    size: { min: 0, max: sizeOf(text).max },
  };
};

/** Functions that look at each item of a list, or at each character when they are called on a text. */
const walked: Rule = ([target]) => {
  const size = sizeOf(target);
  if (target!.type.kind !== 'list') return { cost: scale(size.max, CHARACTER_COST) };
  const { kind } = target!.type.params[0]!;
  const itemMax = target!.place?.params[0]?.declared?.elementsMax ?? UNKNOWN.max;
  const perItem = kind === 'string' || kind === 'bytes' ? addUp(1, scale(itemMax, CHARACTER_COST)) : 1;
  return { cost: multiply(size.max, perItem) };
};

const listMade = (size: Size, factor: number): CallEstimate => ({
  cost: addUp(scale(size.max, factor), 1 + LIST_COST),
  size,
});

const squared: Rule = ([target]) => {
  const size = sizeOf(target);
  const kind = target!.type.kind === 'list' ? target!.type.params[0]!.kind : '';
  const isText = kind === 'string' || kind === 'bytes';
  return listMade(multiplySizes(size, size), isText ? 2 + CHARACTER_COST : 2);
};

const pairs: Rule = ([left, right]) => ({ cost: addUp(multiply(sizeOf(left).max, sizeOf(right).max), 1) });

const concatenated: Rule = ([left, right]) => {
  const { kind } = left!.type;
  if (kind !== 'string' && kind !== 'bytes' && kind !== 'list') return undefined;
  const size = addSizes(sizeOf(left), sizeOf(right));
  const item = left!.item === undefined || right!.item === undefined ? undefined : unionOf(left!.item, right!.item);
  return { cost: kind === 'list' ? 1 : scale(size.max, CHARACTER_COST), size, item };
};

const replaced: Rule = ([target, from, to]) => {
  const size = sizeOf(target);
  const fromMin = sizeOf(from).min;
  const toMax = sizeOf(to).max;
  const cost = scale(size.max, 2 * CHARACTER_COST);
  if (fromMin === 0) return { cost, size: { min: 0, max: addUp(multiply(addUp(size.max, 1), toMax), size.max) } };
  if (toMax <= fromMin) return { cost, size: { min: 0, max: size.max } };
  return { cost, size: { min: 0, max: multiply(Math.ceil(size.max / fromMin), toMax) } };
};

const joined: Rule = ([target, separator]) => {
  const count = sizeOf(target);
  const itemMax = target!.place?.params[0]?.declared?.elementsMax ?? UNKNOWN.max;
  const between = separator === undefined ? 0 : multiply(sizeOf(separator).max, Math.max(0, count.max - 1));
  const size = { min: 0, max: addUp(multiply(count.max, itemMax), between) };
  return { cost: scale(size.max, CHARACTER_COST), size };
};

const splitted: Rule = ([target, , countMax]) => {
  const size = sizeOf(target);
  const literal = countMax?.expr.kind === 'literal' ? Number(countMax.expr.value) : undefined;
  const max = literal === undefined ? size.max : literal < 0 ? UNKNOWN.max : literal;
  return { cost: scale(size.max, 2 * CHARACTER_COST), size: { min: 0, max } };
};

const sliced: Rule = ([target, start, end]) => {
  const from = start!.expr.kind === 'literal' ? Number(start!.expr.value) : 0;
  const to = end!.expr.kind === 'literal' ? Number(end!.expr.value) : sizeOf(target).max;
  return listMade(to < from ? UNKNOWN : { min: to - from, max: to - from }, 1);
};

const ranged: Rule = ([count]) => {
  const size = count!.expr.kind === 'literal' ? Number(count!.expr.value) : UNKNOWN.max;
  return listMade({ min: size, max: size }, 1);
};

const flattened: Rule = ([target, depth]) => {
  const levels = depth === undefined ? 1 : depth.expr.kind === 'literal' ? Number(depth.expr.value) : UNKNOWN.max;
  return listMade(sizeOf(target), levels);
};

/** Of comparing the bytes of two addresses, and of the text that one of them may be. */
const contained =
  (bytesCost: number): Rule =>
  ([, other]) => {
    const text = other!.type.kind === 'string' ? scale(sizeOf(other).max, CHARACTER_COST) : 0;
    return { cost: addUp(bytesCost, text) };
  };

const RULES: Readonly<Record<string, Rule>> = {
  '_+_': concatenated,
  '_==_': compared,
  '_!=_': compared,
  '_<_': ordered,
  '_<=_': ordered,
  '_>_': ordered,
  '_>=_': ordered,
  '@in': ([, range]) => (range!.type.kind === 'list' ? { cost: sizeOf(range).max } : undefined),
  isSorted: walked,
  sum: walked,
  max: walked,
  min: walked,
  indexOf: walked,
  lastIndexOf: walked,
  url: textWalk(0, 1, true),
  lowerAscii: textWalk(0, 1, true),
  upperAscii: textWalk(0, 1, true),
  substring: textWalk(0, 1, true),
  trim: textWalk(0, 1, true),
  replace: replaced,
  split: splitted,
  join: joined,
  find: matched,
  findAll: matched,
  matches: (args, isMember) => (isMember ? { cost: matched(args, isMember)!.cost } : undefined),
  contains: ([text, part]) => ({
    cost: multiply(scale(sizeOf(text).max, CHARACTER_COST), scale(sizeOf(part).max, CHARACTER_COST)),
  }),
  startsWith: textWalk(1, 1, false),
  endsWith: textWalk(1, 1, false),
  format: textWalk(0, 1, false),
  'strings.quote': ([text]) => ({
    cost: scale(sizeOf(text).max, CHARACTER_COST),
    size: { min: sizeOf(text).min + 2, max: addUp(multiply(sizeOf(text).max, 2), 2) },
  }),
  bytes: ([text]) =>
    text!.type.kind === 'string'
      ? { cost: scale(sizeOf(text).max, CHARACTER_COST), size: { min: 0, max: multiply(sizeOf(text).max, 4) } }
      : undefined,
  string: ([bytes]) =>
    bytes!.type.kind === 'bytes' ? { cost: scale(sizeOf(bytes).max, CHARACTER_COST), size: sizeOf(bytes) } : undefined,
  cidr: textWalk(0, 1, false),
  isIP: textWalk(0, 1, false),
  isCIDR: textWalk(0, 1, false),
  ip: (args, isMember) => (isMember ? undefined : textWalk(0, 1, false)(args, isMember)),
  'ip.isCanonical': textWalk(0, 2, false),
  containsIP: contained(4),
  containsCIDR: contained(7),
  quantity: textWalk(0, 1, false),
  isQuantity: textWalk(0, 1, false),
  semver: textWalk(0, 1, false),
  isSemver: textWalk(0, 1, false),
  validate: ([, text]) => ({ cost: scale(scale(sizeOf(text).max, CHARACTER_COST), 128 * PATTERN_COST) }),
  slice: sliced,
  flatten: flattened,
  reverse: ([target]) => listMade(sizeOf(target), 1),
  distinct: squared,
  sort: squared,
  'lists.range': ranged,
  'sets.contains': pairs,
  'sets.intersects': pairs,
  'sets.equivalent': (args, isMember) => ({ cost: addUp(multiply(pairs(args, isMember)!.cost, 2), -1) }),
};

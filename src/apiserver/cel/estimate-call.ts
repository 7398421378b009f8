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

/** The estimate of one call without its arguments; undefined for calls that always cost one. */
type Rule = (args: readonly CallNode[], isMember: boolean) => CallEstimate | undefined;

/** The most that a call costs with its arguments, and the size of its result. The target of a member call comes first. */
export function callEstimate(name: string, args: readonly CallNode[], isMember: boolean): CallEstimate {
  const costs = addUp(...args.map(({ cost }) => cost));
  if (name === '_?_:_') return conditional(args);
  if (name === '_&&_' || name === '_||_') return { cost: costs };
  if (name === 'dyn') return { cost: addUp(costs, 1), size: args[0]!.size, item: args[0]!.item };
  const call = Object.hasOwn(RULES, name) ? RULES[name]!(args, isMember) : undefined;
  return { ...call, cost: addUp(costs, call?.cost ?? 1) };
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

/** The cost of reading the text of one argument; with `isSized` its size is also that of the result. */
const textWalk =
  (index: number, times: number, isSized: boolean): Rule =>
  (args) => {
    const size = sizeOf(args[index]);
    return { cost: scale(size.max, times * CHARACTER_COST), ...(isSized ? { size } : {}) };
  };

const TEXT_READ = textWalk(0, 1, false);

const compared: Rule = ([left, right]) => {
  if (left!.type.kind === 'opaque') return { cost: 1 };
  const smallest = Math.min(sizeOf(left).max, sizeOf(right).max);
  return { cost: scale(smallest, CHARACTER_COST) };
};

/** Comparisons of numbers and times always cost one. */
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

/** Functions that read each item of a list, or each character of a text. */
const walked: Rule = ([target]) => {
  const size = sizeOf(target);
  if (target!.type.kind !== 'list') return { cost: scale(size.max, CHARACTER_COST) };
  const perItem = isTextList(target!.type) ? addUp(1, scale(itemSizeMax(target!), CHARACTER_COST)) : 1;
  return { cost: multiply(size.max, perItem) };
};

function isTextList({ kind, params }: CelType): boolean {
  return kind === 'list' && (params[0]!.kind === 'string' || params[0]!.kind === 'bytes');
}

/** The largest size of an item that the schema allows. */
function itemSizeMax({ place }: CallNode): number {
  return place?.params[0]?.declared?.elementsMax ?? UNKNOWN.max;
}

const listMade = (size: Size, factor: number): CallEstimate => ({
  cost: addUp(scale(size.max, factor), 1 + LIST_COST),
  size,
});

const squared: Rule = ([target]) => {
  const size = sizeOf(target);
  return listMade(multiplySizes(size, size), isTextList(target!.type) ? 2 + CHARACTER_COST : 2);
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
  const between = separator === undefined ? 0 : multiply(sizeOf(separator).max, Math.max(0, count.max - 1));
  const size = { min: 0, max: addUp(multiply(count.max, itemSizeMax(target!)), between) };
  return { cost: scale(size.max, CHARACTER_COST), size };
};

const splitted: Rule = ([target, , countMax]) => {
  const size = sizeOf(target);
  const literal = countMax === undefined ? undefined : literalNumber(countMax);
  const max = literal === undefined ? size.max : literal < 0 ? UNKNOWN.max : literal;
  return { cost: scale(size.max, 2 * CHARACTER_COST), size: { min: 0, max } };
};

/** The number that an argument is written as; undefined for other expressions. */
function literalNumber({ expr }: CallNode): number | undefined {
  return expr.kind === 'literal' ? Number(expr.value) : undefined;
}

const sliced: Rule = ([target, start, end]) => {
  const from = literalNumber(start!) ?? 0;
  const to = literalNumber(end!) ?? sizeOf(target).max;
  return listMade(to < from ? UNKNOWN : { min: to - from, max: to - from }, 1);
};

const ranged: Rule = ([count]) => {
  const size = literalNumber(count!) ?? UNKNOWN.max;
  return listMade({ min: size, max: size }, 1);
};

const flattened: Rule = ([target, depth]) => {
  const levels = depth === undefined ? 1 : (literalNumber(depth) ?? UNKNOWN.max);
  return listMade(sizeOf(target), levels);
};

/** The cost of comparing the bytes of two addresses, and of parsing the text that one of them may be. */
const contained =
  (bytesCost: number): Rule =>
  ([, other]) => {
    const text = other!.type.kind === 'string' ? scale(sizeOf(other).max, CHARACTER_COST) : 0;
    return { cost: addUp(bytesCost, text) };
  };

const sameRule = (rule: Rule, ...names: readonly string[]): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map((name) => [name, rule]));

const RULES: Readonly<Record<string, Rule>> = {
  ...sameRule(compared, '_==_', '_!=_'),
  ...sameRule(ordered, '_<_', '_<=_', '_>_', '_>=_'),
  ...sameRule(walked, 'isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'),
  ...sameRule(textWalk(0, 1, true), 'url', 'lowerAscii', 'upperAscii', 'substring', 'trim'),
  ...sameRule(matched, 'find', 'findAll'),
  ...sameRule(textWalk(1, 1, false), 'startsWith', 'endsWith'),
  ...sameRule(TEXT_READ, 'format', 'cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'),
  ...sameRule(squared, 'distinct', 'sort'),
  ...sameRule(pairs, 'sets.contains', 'sets.intersects'),
  '_+_': concatenated,
  '@in': ([, range]) => (range!.type.kind === 'list' ? { cost: sizeOf(range).max } : undefined),
  replace: replaced,
  split: splitted,
  join: joined,
  matches: (args, isMember) => (isMember ? { cost: matched(args, isMember)!.cost } : undefined),
  contains: ([text, part]) => ({
    cost: multiply(scale(sizeOf(text).max, CHARACTER_COST), scale(sizeOf(part).max, CHARACTER_COST)),
  }),
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
  ip: (args, isMember) => (isMember ? undefined : TEXT_READ(args, isMember)),
  'ip.isCanonical': textWalk(0, 2, false),
  containsIP: contained(4),
  containsCIDR: contained(7),
  validate: ([, text]) => ({ cost: scale(scale(sizeOf(text).max, CHARACTER_COST), 128 * PATTERN_COST) }),
  slice: sliced,
  flatten: flattened,
  reverse: ([target]) => listMade(sizeOf(target), 1),
  'lists.range': ranged,
  'sets.equivalent': (args, isMember) => ({ cost: addUp(multiply(pairs(args, isMember)!.cost, 2), -1) }),
};

import { LIST_COST, MAP_COST } from './budget.js';
import type { CelType } from './cel-types.js';
import { type CallNode, callEstimate } from './estimate-call.js';
import { addUp, type Estimate, multiply, type Size, UNKNOWN, unionOf } from './estimate-size.js';
import type { Call, Comprehension, Expr, Select } from './syntax.js';
import { characterCount } from './text.js';
import { sizeOf, type Value } from './values.js';

/**
 * The most that an expression over `self` can cost, given the sizes that the schema allows. Rules that
 * could cost too much are refused when a definition is written. The estimate must equal that of
 * kube-apiserver, so that both accept the same definitions.
 */
export function estimateCost(expr: Expr, self: CelType): number {
  return new Estimator(self).estimate(expr).cost;
}

interface Variable {
  readonly place: CelType | undefined;
  readonly size: Size | undefined;
}

class Estimator {
  readonly #scopes: ReadonlyMap<string, Variable>[] = [];

  readonly #self: CelType;

  constructor(self: CelType) {
    this.#self = self;
  }

  estimate(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'literal':
        return { cost: 0, size: literalSize(expr.value), place: undefined, item: undefined };
      case 'ident':
        return this.#ident(expr.name, expr.type!);
      case 'select':
        return expr.qualified === undefined ? this.#select(expr) : known(1, this.#self, expr.type!);
      case 'call':
        return this.#call(expr);
      case 'list': {
        const items = expr.items.map(({ value }) => this.estimate(value));
        const cost = addUp(LIST_COST, ...items.map((each) => each.cost));
        return { cost, size: { min: items.length, max: items.length }, place: undefined, item: unionAll(items) };
      }
      case 'map': {
        const keys = expr.entries.map(({ key }) => this.estimate(key));
        const values = expr.entries.map(({ value }) => this.estimate(value));
        const cost = addUp(MAP_COST, ...[...keys, ...values].map((each) => each.cost));
        return { cost, size: { min: keys.length, max: keys.length }, place: undefined, item: unionAll(values) };
      }
      case 'comprehension':
        return this.#comprehension(expr);
      case 'struct':
        return known(0, undefined, expr.type!);
    }
  }

  #ident(name: string, type: CelType): Estimate {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const variable = this.#scopes[index]!.get(name);
      if (variable !== undefined) return known(1, variable.place, type, variable.size);
    }
    return known(1, this.#self, type);
  }

  #select(expr: Select): Estimate {
    const operand = this.estimate(expr.operand);
    if (expr.isTest) return known(operand.cost, undefined, expr.type!);
    if (expr.isOptional || expr.operand.type!.kind === 'optional') {
      return known(addUp(operand.cost, 1), undefined, expr.type!);
    }
    const { kind } = expr.operand.type!;
    const cost = addUp(operand.cost, kind === 'map' || kind === 'struct' ? 1 : 0);
    // Like kube-apiserver: a value without a place in the schema has the size of `self`.
    return known(cost, operand.place === undefined ? this.#self : fieldOf(operand.place, expr.field), expr.type!);
  }

  #call(expr: Call): Estimate {
    const { name, args } = expr.resolved!;
    const nodes = args.map((each): CallNode => ({ expr: each, type: each.type!, ...this.estimate(each) }));
    const made = callEstimate(name, nodes, expr.target !== undefined && args.length > expr.args.length);
    if (name === '_[_]') {
      const place = nodes[0]!.place === undefined ? this.#self : itemPlace(nodes[0]!.place);
      const size = nodes[0]!.item ?? (place === undefined ? undefined : placeSize(place));
      return { cost: made.cost, size: size ?? sizeByType(expr.type!), place, item: undefined };
    }
    return { cost: made.cost, size: made.size ?? sizeByType(expr.type!), place: undefined, item: made.item };
  }

  #comprehension(expr: Comprehension): Estimate {
    const range = this.estimate(expr.range);
    const count = range.size ?? UNKNOWN;
    this.#scopes.push(new Map(this.#variables(expr, range)));
    const filter = expr.filter === undefined ? undefined : this.estimate(expr.filter);
    const body = this.estimate(expr.body);
    this.#scopes.pop();
    if (expr.macro === 'optMap' || expr.macro === 'optFlatMap') {
      const once = expr.macro === 'optMap' ? 13 : 12;
      return known(addUp(range.cost, range.cost, once, body.cost), undefined, expr.type!);
    }
    const form = FORMS[expr.macro]!;
    const turn = addUp(form.turn, filter?.cost ?? 0, body.cost);
    const cost = addUp(range.cost, form.once, multiply(count.max, turn), form.after(count.max));
    const isMade = expr.type!.kind === 'list' || expr.type!.kind === 'map';
    const item = expr.macro === 'filter' ? this.#itemSize(range) : expr.macro === 'sortBy' ? undefined : body.size;
    return { cost, size: isMade ? count : { min: 1, max: 1 }, place: undefined, item: isMade ? item : undefined };
  }

  #variables({ variables, range: { type } }: Comprehension, range: Estimate): [string, Variable][] {
    const [first, second] = variables as [string, string | undefined];
    if (type!.kind === 'optional') return [[first, { place: undefined, size: undefined }]];
    const place = itemPlace(range.place);
    const isList = type!.kind === 'list';
    // Like kube-apiserver: a value that the expression created has the size of `self`.
    const value: Variable = { place: range.place === undefined ? this.#self : place, size: range.item };
    const key: Variable = { place: range.place === undefined ? this.#self : range.place.params[0], size: undefined };
    if (second !== undefined)
      return [
        [first, isList ? { place: undefined, size: undefined } : key],
        [second, value],
      ];
    return [[first, isList ? value : key]];
  }

  #itemSize({ place, item }: Estimate): Size | undefined {
    const below = itemPlace(place);
    return item ?? (below === undefined ? undefined : placeSize(below));
  }
}

/** The cost of a macro by its expansion: of each iteration besides its expressions, once, and afterwards. */
const FORMS: Readonly<Record<string, { turn: number; once: number; after: (count: number) => number }>> = {
  all: { turn: 3, once: 1, after: () => 0 },
  exists: { turn: 4, once: 1, after: () => 0 },
  exists_one: { turn: 2, once: 2, after: () => 0 },
  map: { turn: 12, once: LIST_COST + 1, after: () => 0 },
  filter: { turn: 13, once: LIST_COST + 1, after: () => 0 },
  transformList: { turn: 12, once: LIST_COST + 1, after: () => 0 },
  transformMap: { turn: 3, once: MAP_COST + 1, after: () => 0 },
  transformMapEntry: { turn: 2, once: MAP_COST + 1, after: () => 0 },
  sortBy: {
    turn: 12,
    once: 2 * LIST_COST + 3,
    after: (count) => addUp(multiply(multiply(count, count), 2), 1 + LIST_COST),
  },
};

/** The size is that of the place in the schema, else that of the type, else that of the variable. */
function known(cost: number, place: CelType | undefined, type: CelType, size?: Size): Estimate {
  const ofPlace = place === undefined ? undefined : placeSize(place);
  return { cost, size: ofPlace ?? sizeByType(type) ?? size, place, item: undefined };
}

function placeSize({ declared }: CelType): Size | undefined {
  return declared === undefined ? undefined : { min: 0, max: declared.elementsMax };
}

function sizeByType(type: CelType): Size | undefined {
  if (type.kind === 'optional') return sizeByType(type.params[0]!);
  const isFixed = ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
  return isFixed ? { min: 1, max: 1 } : undefined;
}

function fieldOf(place: CelType | undefined, field: string): CelType | undefined {
  if (place === undefined) return undefined;
  return place.kind === 'map' ? place.params[1] : place.fields?.get(field)?.type;
}

function itemPlace(place: CelType | undefined): CelType | undefined {
  if (place?.kind === 'list') return place.params[0];
  return place?.kind === 'map' ? place.params[1] : undefined;
}

function unionAll(parts: readonly Estimate[]): Size {
  if (parts.length === 0) return { min: 0, max: 0 };
  return parts.map(({ size }) => size ?? UNKNOWN).reduce(unionOf);
}

function literalSize(value: Value): Size {
  const size = typeof value === 'string' ? characterCount(value) : sizeOf(value);
  return { min: size, max: size };
}

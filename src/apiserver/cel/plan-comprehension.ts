import { CelBudgetExceeded, type CelFailure, fail, noSuchOverload } from './failure.js';
import { pairwise, sortBy } from './library/lists.js';
import { optional } from './library/optionals.js';
import type { Frame, Step, StepPlanner } from './step.js';
import type { Comprehension } from './syntax.js';
import { CelList, CelMap, CelOptional, kindOf, type MapKey, MapValue, mapKey, NONE, type Value } from './values.js';

const ITERATED: Readonly<Record<string, string>> = {
  int: 'Int',
  bool: 'Bool',
  string: 'String',
  double: 'Double',
  null: 'Null',
};

function notIterable(value: Value): never {
  const name = ITERATED[kindOf(value)] ?? kindOf(value);
  return fail(`got 'types.${name}', expected iterable type`);
}

/** The cost of one iteration besides its expressions, which is that of kube-apiserver's expansion of the macro. */
const TURN_COST = { all: 3, exists: 4, counted: 2, kept: 12, mapped: 3, merged: 2 } as const;

interface Loop {
  readonly range: Step;
  readonly places: readonly number[];
  readonly filter: Step | undefined;
  readonly body: Step;
}

export function planComprehension(planner: StepPlanner, expr: Comprehension): Step {
  const range = planner.plan(expr.range);
  const loop = planner.within(expr.variables, (places): Loop => {
    const filter = expr.filter === undefined ? undefined : planner.plan(expr.filter);
    return { range, places, filter, body: planner.plan(expr.body) };
  });
  switch (expr.macro) {
    case 'all':
      return quantifier(loop, false, TURN_COST.all);
    case 'exists':
      return quantifier(loop, true, TURN_COST.exists);
    case 'exists_one':
      return existsOne(loop);
    case 'filter':
      return filtered(loop);
    case 'map':
    case 'transformList':
      return (frame) => new CelList(transform(loop, frame));
    case 'transformMap':
      return transformedMap(loop, TURN_COST.mapped, (value, key) => [[key, value]]);
    case 'transformMapEntry':
      return transformedMap(loop, TURN_COST.merged, (value) =>
        value instanceof MapValue ? value.keys().map((key) => [key, value.find(key)!] as const) : noSuchOverload(),
      );
    case 'sortBy':
      return sorted(loop);
    case 'optMap':
      return intoOptional(loop, (value) => optional(value));
    case 'optFlatMap':
      return intoOptional(loop, (value) => value);
  }
}

/** Calls `turn` for each item until it returns false. A single variable is the item of a list or the key of a map. */
function iterate({ range, places }: Loop, frame: Frame, turn: (key: Value) => boolean): void {
  const over = range(frame);
  const [first, second] = places as [number, number | undefined];
  const { slots } = frame;
  if (over instanceof CelList) {
    const { items } = over;
    for (let index = 0; index < items.length; index++) {
      slots[first] = second === undefined ? items[index]! : index;
      if (second !== undefined) slots[second] = items[index]!;
      if (!turn(slots[first]!)) return;
    }
  } else if (over instanceof MapValue) {
    for (const key of over.keys()) {
      slots[first] = key;
      if (second !== undefined) slots[second] = over.find(key)!;
      if (!turn(key)) return;
    }
  } else notIterable(over);
}

/** `all` and `exists`: one decisive value wins over failures of other items. */
function quantifier(loop: Loop, decisive: boolean, turnCost: number): Step {
  const { body } = loop;
  return (frame) => {
    let result = !decisive;
    let failure: unknown;
    iterate(loop, frame, () => {
      frame.budget.charge(turnCost);
      try {
        const value = body(frame);
        if (value === decisive) result = decisive;
        else if (typeof value !== 'boolean') noSuchOverload();
      } catch (error) {
        if (error instanceof CelBudgetExceeded) throw error;
        failure ??= error;
      }
      return result !== decisive;
    });
    frame.budget.charge(1);
    if (result !== decisive && failure !== undefined) throw failure as CelFailure;
    return result;
  };
}

/** Charges one iteration. Iterations without cost are counted, because their number is bounded too. */
function turned({ budget }: Frame, cost: number): void {
  if (cost === 0) budget.idle();
  else budget.charge(cost);
}

function existsOne(loop: Loop): Step {
  const { body } = loop;
  return (frame) => {
    let count = 0;
    iterate(loop, frame, () => {
      const isCounted = isTrue(body(frame));
      if (isCounted) count++;
      turned(frame, isCounted ? TURN_COST.counted : 0);
      return true;
    });
    frame.budget.charge(2);
    return count === 1;
  };
}

function filtered(loop: Loop): Step {
  const { body, places } = loop;
  return (frame) => {
    const kept: Value[] = [];
    iterate(loop, frame, () => {
      const item = frame.slots[places[0]!]!;
      const isKept = isTrue(body(frame));
      if (isKept) kept.push(item);
      turned(frame, isKept ? TURN_COST.kept + 1 : 0);
      return true;
    });
    frame.budget.charge(1);
    return new CelList(kept);
  };
}

function transform(loop: Loop, frame: Frame): Value[] {
  const { body, filter } = loop;
  const made: Value[] = [];
  iterate(loop, frame, () => {
    const isKept = filter === undefined || isTrue(filter(frame));
    if (isKept) made.push(body(frame));
    turned(frame, isKept ? TURN_COST.kept : 0);
    return true;
  });
  frame.budget.charge(1);
  return made;
}

function transformedMap(
  loop: Loop,
  turnCost: number,
  entriesOf: (value: Value, key: Value) => readonly (readonly [Value, Value])[],
): Step {
  const { body, filter } = loop;
  return (frame) => {
    const made = new Map<MapKey, [Value, Value]>();
    iterate(loop, frame, (key) => {
      const isKept = filter === undefined || isTrue(filter(frame));
      turned(frame, isKept ? turnCost : 0);
      if (!isKept) return true;
      for (const [name, value] of entriesOf(body(frame), key)) insert(made, name, value);
      return true;
    });
    frame.budget.charge(1);
    return new CelMap(made);
  };
}

function sorted(loop: Loop): Step {
  return (frame) => {
    const list = loop.range(frame);
    if (!(list instanceof CelList)) return noSuchOverload();
    const keys = new CelList(transform({ ...loop, range: () => list }, frame));
    frame.budget.charge(pairwise([list, keys], list));
    return sortBy(list, keys);
  };
}

function intoOptional({ range, places, body }: Loop, wrap: (value: Value) => Value): Step {
  return (frame) => {
    const over = range(frame);
    if (!(over instanceof CelOptional)) return noSuchOverload();
    frame.budget.charge(1);
    if (over.value === undefined) return NONE;
    frame.slots[places[0]!] = over.value;
    return wrap(body(frame));
  };
}

function isTrue(value: Value): boolean {
  return typeof value === 'boolean' ? value : noSuchOverload();
}

function insert(entries: Map<MapKey, [Value, Value]>, key: Value, value: Value): void {
  const known = mapKey(key) ?? fail(`unsupported key type: ${kindOf(key)}`);
  if (entries.has(known)) fail(`insert failed: key ${known} already exists`);
  entries.set(known, [key, value]);
}

import { CelBudget, CHARACTER_COST, LIST_COST, MAP_COST, RULE_COST_MAX } from './budget.js';
import type { CelField, CelType } from './cel-types.js';
import { TYPE_NAMES } from './checker.js';
import { equals, takeComparisons } from './compare.js';
import { CelBudgetExceeded, fail, NO_SUCH_OVERLOAD, noSuchOverload } from './failure.js';
import { StructValue } from './json-values.js';
import { elementOf } from './library/operators.js';
import { optional } from './library/optionals.js';
import { compilePattern } from './library/regex.js';
import type { Overload } from './overload.js';
import { planComprehension } from './plan-comprehension.js';
import type { Frame, Step, StepPlanner } from './step.js';
import type { Call, Expr, ListNode, MapNode, Select } from './syntax.js';
import {
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  kindOf,
  type MapKey,
  MapValue,
  mapKey,
  NONE,
  sizeOf,
  type Value,
} from './values.js';

/** Turns a checked expression into functions, which find variables by index instead of name. */
export class Planner implements StepPlanner {
  readonly #places = new Map<string, number[]>();
  #count: number;
  /** The most variables in scope at one time. */
  slotsMax: number;

  constructor(variables: readonly string[]) {
    for (const [place, name] of variables.entries()) this.#places.set(name, [place]);
    this.#count = variables.length;
    this.slotsMax = variables.length;
  }

  plan(expr: Expr): Step {
    switch (expr.kind) {
      case 'literal': {
        const { value } = expr;
        return () => value;
      }
      case 'ident':
        return this.#ident(expr.name);
      case 'select':
        return expr.qualified === undefined ? this.#select(expr) : this.#ident(expr.qualified);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'comprehension':
        return planComprehension(this, expr);
      case 'struct':
        throw new Error('structs do not pass the checker');
    }
  }

  within<T>(names: readonly string[], use: (places: readonly number[]) => T): T {
    const places = names.map(() => this.#count++);
    this.slotsMax = Math.max(this.slotsMax, this.#count);
    for (const [index, name] of names.entries()) {
      this.#places.set(name, [...(this.#places.get(name) ?? []), places[index]!]);
    }
    const result = use(places);
    for (const name of names) this.#places.get(name)!.pop();
    this.#count -= names.length;
    return result;
  }

  #ident(name: string): Step {
    const place = this.#places.get(name)?.at(-1);
    if (place === undefined) {
      const value = new CelTypeValue(TYPE_NAMES.has(name) ? name : 'dyn');
      return () => value;
    }
    return ({ slots, budget }) => {
      budget.charge(1);
      return slots[place]!;
    };
  }

  #select(expr: Select): Step {
    const operand = this.plan(expr.operand);
    const { field } = expr;
    const isOptionalOperand = expr.operand.type?.kind === 'optional';
    if (expr.isTest) return test(operand, field);
    if (expr.isOptional || isOptionalOperand) return optionalSelect(operand, field);
    const declared = expr.operand.type?.kind === 'struct' ? expr.operand.type.fields!.get(field) : undefined;
    if (declared !== undefined) return structSelect(operand, field, declared);
    return (frame) => {
      const value = operand(frame);
      frame.budget.charge(1);
      return member(value, field);
    };
  }

  #call(expr: Call): Step {
    const { name, overloads, args } = expr.resolved!;
    const steps = args.map((each) => this.plan(each));
    switch (name) {
      case '_&&_':
        return shortCircuit(steps[0]!, steps[1]!, false);
      case '_||_':
        return shortCircuit(steps[0]!, steps[1]!, true);
      case '_?_:_':
        return conditional(steps[0]!, steps[1]!, steps[2]!);
      case '_==_':
        return equality(steps[0]!, steps[1]!, true);
      case '_!=_':
        return equality(steps[0]!, steps[1]!, false);
    }
    checkPattern(name, args, steps);
    const isSure = overloads.length === 1 && args.every((each) => isConcrete(each.type!));
    if (!isSure && name === '_[_]') return indexed(overloads, steps);
    const planned = isSure ? direct(overloads[0]!, steps) : dispatch(name, overloads, steps);
    return isConstant(expr) ? constant(planned) : planned;
  }

  #list({ items }: ListNode): Step {
    const steps = items.map(({ value, isOptional }) => ({ step: this.plan(value), isOptional }));
    if (items.every(({ value, isOptional }) => value.kind === 'literal' && !isOptional)) {
      const constant = new CelList(items.map(({ value }) => (value.kind === 'literal' ? value.value : null)));
      return () => constant;
    }
    return (frame) => {
      const values: Value[] = [];
      for (const { step, isOptional } of steps) {
        const value = step(frame);
        if (!isOptional) values.push(value);
        else if (value instanceof CelOptional && value.value !== undefined) values.push(value.value);
      }
      frame.budget.charge(LIST_COST);
      return new CelList(values);
    };
  }

  #map({ entries }: MapNode): Step {
    const steps = entries.map(({ key, value, isOptional }) => [this.plan(key), this.plan(value), isOptional] as const);
    return (frame) => {
      const made = new Map<MapKey, [Value, Value]>();
      for (const [keyStep, valueStep, isOptional] of steps) {
        const key = keyStep(frame);
        const value = valueStep(frame);
        const wanted = isOptional && value instanceof CelOptional ? value.value : value;
        if (wanted !== undefined) made.set(mapKey(key) ?? fail(`unsupported key type: ${kindOf(key)}`), [key, wanted]);
      }
      frame.budget.charge(MAP_COST);
      return new CelMap(made);
    };
  }
}

const CONVERSIONS = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'uint']);
const MATCHERS = new Set(['matches', 'find', 'findAll']);

/** Whether an expression is a literal or a conversion of one. */
function isConstant(expr: Expr): boolean {
  if (expr.kind === 'literal') return true;
  if (expr.kind !== 'call' || !CONVERSIONS.has(expr.resolved!.name)) return false;
  return expr.resolved!.args.length === 1 && isConstant(expr.resolved!.args[0]!);
}

/** Compiles a constant pattern at planning time; throws CelFailure for a malformed one. */
function checkPattern(name: string, args: readonly Expr[], steps: readonly Step[]): void {
  if (!MATCHERS.has(name) || args[1] === undefined || !isConstant(args[1])) return;
  const pattern = steps[1]!({ slots: [], budget: new CelBudget(RULE_COST_MAX) });
  if (typeof pattern === 'string') compilePattern(pattern);
}

/** Evaluates a constant conversion once, at planning time; throws CelFailure if it fails. */
function constant(step: Step): Step {
  const value = step({ slots: [], budget: new CelBudget(RULE_COST_MAX) });
  return () => value;
}

function test(operand: Step, field: string): Step {
  return (frame) => {
    const value = operand(frame);
    const target = value instanceof CelOptional ? value.value : value;
    if (target === undefined) return false;
    return target instanceof MapValue && target.find(field) !== undefined;
  };
}

function optionalSelect(operand: Step, field: string): Step {
  return (frame) => {
    const value = operand(frame);
    frame.budget.charge(1);
    const target = value instanceof CelOptional ? value.value : value;
    if (target === undefined) return NONE;
    return target instanceof MapValue ? optional(target.find(field)) : noSuchOverload();
  };
}

function structSelect(operand: Step, field: string, declared: CelField): Step {
  return (frame) => {
    const target = operand(frame);
    frame.budget.charge(1);
    if (!(target instanceof StructValue)) return member(target, field);
    const value = target.field(declared);
    return value === undefined ? fail(`no such key: ${field}`) : value;
  };
}

function member(target: Value, field: string): Value {
  if (target instanceof CelOptional) return target.value === undefined ? NONE : optional(memberOf(target.value, field));
  const value = memberOf(target, field);
  return value === undefined ? fail(`no such key: ${field}`) : value;
}

function memberOf(target: Value, field: string): Value | undefined {
  return target instanceof MapValue ? target.find(field) : fail(`no such key: ${field}`);
}

/**
 * `&&` and `||`. A side with the decisive value wins, even over a failure of the other side, so that
 * the order of both does not matter.
 */
function shortCircuit(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    let first: Value;
    try {
      first = left(frame);
    } catch (failure) {
      if (failure instanceof CelBudgetExceeded) throw failure;
      if (right(frame) === decisive) return decisive;
      throw failure;
    }
    if (first === decisive) return decisive;
    const second = right(frame);
    if (second === decisive) return decisive;
    return typeof first === 'boolean' && typeof second === 'boolean' ? second : noSuchOverload();
  };
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (typeof value !== 'boolean') return noSuchOverload();
    return value ? yes(frame) : no(frame);
  };
}

function equality(left: Step, right: Step, wanted: boolean): Step {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a === 'number' || typeof a === 'boolean') frame.budget.charge(1);
    else frame.budget.charge(Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * CHARACTER_COST));
    if (a === b) return wanted;
    const isEqual = equals(a, b);
    const comparisons = takeComparisons();
    if (comparisons > 0) frame.budget.charge(comparisons * CHARACTER_COST);
    return isEqual === wanted;
  };
}

/** A call whose overload is known from the types. */
function direct({ run, cost }: Overload, steps: readonly Step[]): Step {
  const [first, second, third] = steps;
  if (steps.length === 1) {
    return (frame) => {
      const a = first!(frame);
      const result = run(a);
      frame.budget.charge(cost === undefined ? 1 : cost([a], result));
      return result;
    };
  }
  if (steps.length === 2) {
    return (frame) => {
      const a = first!(frame);
      const b = second!(frame);
      if (cost === undefined) {
        frame.budget.charge(1);
        return run(a, b);
      }
      return charged(frame, run(a, b), [a, b], cost);
    };
  }
  return (frame) => {
    const args = third === undefined ? [] : steps.map((each) => each(frame));
    const result = run(...args);
    return charged(frame, result, args, cost ?? (() => 1));
  };
}

function charged(frame: Frame, result: Value, args: readonly Value[], cost: NonNullable<Overload['cost']>): Value {
  frame.budget.charge(cost(args, result) + takeComparisons() * CHARACTER_COST);
  return result;
}

/** A call whose overload is chosen at run time by the kinds of the arguments. */
function dispatch(name: string, overloads: readonly Overload[], steps: readonly Step[]): Step {
  const isOperator = /[^\w.]/.test(name);
  return (frame) => {
    const args = steps.map((each) => each(frame));
    const overload = overloads.find((each) => accepts(each, args));
    if (overload === undefined) return isOperator ? noSuchOverload() : fail(`${NO_SUCH_OVERLOAD}: ${name}`);
    return charged(frame, overload.run(...args), args, overload.cost ?? (() => 1));
  };
}

/** An index into a value that may be a list or a map. */
function indexed(overloads: readonly Overload[], steps: readonly Step[]): Step {
  return (frame) => {
    const target = steps[0]!(frame);
    const key = steps[1]!(frame);
    frame.budget.charge(1);
    if (!(target instanceof CelOptional)) return elementOf(target, key);
    const overload = overloads.find((each) => accepts(each, [target, key]));
    return overload === undefined ? noSuchOverload() : overload.run(target, key);
  };
}

function accepts({ args: wanted }: Overload, args: readonly Value[]): boolean {
  return wanted.every((type, index) => isOfType(args[index]!, type));
}

function isOfType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'opaque':
      return kindOf(value) === type.name;
    case 'optional': {
      if (!(value instanceof CelOptional)) return false;
      return value.value === undefined || isOfType(value.value, type.params[0]!);
    }
    case 'list': {
      if (!(value instanceof CelList)) return false;
      // Overloads differ by the items of a list; the first item decides.
      const [first] = value.items;
      return first === undefined || isOfType(first, type.params[0]!);
    }
    default:
      return kindOf(value) === type.kind;
  }
}

/** Whether values of the type can be of one kind only, so that nothing is left to find out at run time. */
function isConcrete(type: CelType): boolean {
  if (type.kind === 'list' || type.kind === 'map' || type.kind === 'optional') return type.params.every(isConcreteItem);
  return type.kind !== 'dyn' && type.kind !== 'error' && type.kind !== 'param' && type.kind !== 'null';
}

function isConcreteItem(type: CelType): boolean {
  return type.kind !== 'error';
}

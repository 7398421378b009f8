import * as t from './cel-types.js';
import { type CelType, formatType, isDynamic, listOf, mapOf, optionalOf } from './cel-types.js';
import { literalIssues } from './check-literals.js';
import { CelCompileError, type Issue } from './compile-error.js';
import { FUNCTIONS } from './library/functions.js';
import type { Overload } from './overload.js';
import type { Call, Comprehension, Expr, Ident, Literal, Select } from './syntax.js';
import { mostGeneral, Substitutions } from './unify.js';
import { kindOf } from './values.js';

/** Identifiers of types. */
export const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ...[t.BOOL, t.INT, t.UINT, t.DOUBLE, t.STRING, t.BYTES].map((type) => [type.name, type] as const),
  ['null_type', t.NULL],
  ['list', listOf(t.DYN)],
  ['map', mapOf(t.DYN, t.DYN)],
  ['type', t.typeOfType(t.DYN)],
  ['optional_type', optionalOf(t.DYN)],
  ['google.protobuf.Timestamp', t.TIMESTAMP],
  ['google.protobuf.Duration', t.DURATION],
  ['kubernetes.URL', t.URL],
  ['kubernetes.Quantity', t.QUANTITY],
  ['net.IP', t.IP],
  ['net.CIDR', t.CIDR],
]);

/**
 * Sets the type of every node of an expression and the overloads of every call. Returns the type of
 * the whole; throws CelCompileError with all problems.
 */
export function check(source: string, expr: Expr, variables: ReadonlyMap<string, CelType>): CelType {
  return new Checker(source, variables).check(expr);
}

class Checker {
  readonly #issues: Issue[] = [];
  readonly #types = new Substitutions();
  readonly #nodes: Expr[] = [];
  /** The variables of loops, those of the innermost loop last. */
  readonly #scopes: Map<string, CelType>[] = [];

  readonly #source: string;
  readonly #variables: ReadonlyMap<string, CelType>;

  constructor(source: string, variables: ReadonlyMap<string, CelType>) {
    this.#source = source;
    this.#variables = variables;
  }

  check(expr: Expr): CelType {
    this.#visit(expr);
    for (const node of this.#nodes) node.type = this.#types.resolve(node.type!, true);
    if (this.#issues.length === 0) this.#issues.push(...literalIssues(expr));
    if (this.#issues.length > 0) throw new CelCompileError(this.#source, this.#issues);
    return expr.type!;
  }

  #visit(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    expr.type = type;
    this.#nodes.push(expr);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return typeOfLiteral(expr);
      case 'ident':
        return this.#ident(expr);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#issue(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #lookup(name: string): CelType | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const type = this.#scopes[index]!.get(name);
      if (type !== undefined) return type;
    }
    const variable = this.#variables.get(name);
    if (variable !== undefined) return variable;
    const named = TYPE_NAMES.get(name);
    return named === undefined ? undefined : t.typeOfType(named);
  }

  #ident({ name, at }: Ident): CelType {
    return this.#lookup(name) ?? this.#issue(at, `undeclared reference to '${name}' (in container '')`);
  }

  #select(expr: Select): CelType {
    const qualified = expr.isTest || expr.isOptional ? undefined : qualifiedName(expr);
    if (qualified !== undefined && this.#scopes.every((scope) => !scope.has(qualified.split('.')[0]!))) {
      const type = TYPE_NAMES.get(qualified);
      if (type !== undefined) {
        expr.qualified = qualified;
        return t.typeOfType(type);
      }
    }
    const operand = this.#types.resolve(this.#visit(expr.operand));
    const isOptional = operand.kind === 'optional';
    const field = this.#fieldType(expr, isOptional ? operand.params[0]! : operand);
    if (expr.isTest) return t.BOOL;
    return isOptional || expr.isOptional ? optionalOf(field) : field;
  }

  #fieldType({ at, field }: Select, target: CelType): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1]!;
      case 'struct':
        return target.fields!.get(field)?.type ?? this.#issue(at, `undefined field '${field}'`);
      case 'param':
        this.#types.assignable(t.DYN, target);
        return t.DYN;
      default:
        if (!isDynamic(target)) this.#issue(at, `type '${formatType(target)}' does not support field selection`);
        return t.DYN;
    }
  }

  #call(expr: Call): CelType {
    const { at, name, target, args } = expr;
    const argTypes = args.map((each) => this.#visit(each));
    if (target === undefined) return this.#resolve(expr, name, args, argTypes, false);
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix}.${name}`;
    if (qualified !== undefined && FUNCTIONS.has(qualified)) {
      return this.#resolve(expr, qualified, args, argTypes, false);
    }
    const targetType = this.#visit(target);
    if (!FUNCTIONS.has(name)) return this.#issue(at, `undeclared reference to '${name}' (in container '')`);
    return this.#resolve(expr, name, [target, ...args], [targetType, ...argTypes], true);
  }

  #resolve(expr: Call, name: string, args: readonly Expr[], argTypes: readonly CelType[], isMember: boolean): CelType {
    const declared = FUNCTIONS.get(name);
    if (declared === undefined) return this.#issue(expr.at, `undeclared reference to '${name}' (in container '')`);
    if (name === '_&&_' || name === '_||_') {
      expr.resolved = { name, overloads: declared, args };
      for (const [index, type] of argTypes.entries()) this.#expect(args[index]!, type, t.BOOL);
      return t.BOOL;
    }
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared) {
      if (overload.isMember !== isMember) continue;
      const { wanted, returned } = this.#instantiate(overload);
      if (!this.#types.allAssignable(argTypes, wanted)) continue;
      overloads.push(overload);
      const type = this.#types.resolve(returned);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && !t.sameType(result, type)) result = t.DYN;
    }
    expr.resolved = { name, overloads, args };
    return result ?? this.#noOverload(expr.at, name, argTypes, isMember);
  }

  #instantiate({ variables, args, result }: Overload): { wanted: readonly CelType[]; returned: CelType } {
    if (variables.length === 0) return { wanted: args, returned: result };
    const fresh = new Map(variables.map((name) => [name, this.#types.fresh()]));
    return { wanted: args.map((each) => replace(each, fresh)), returned: replace(result, fresh) };
  }

  #noOverload(at: number, name: string, types: readonly CelType[], isMember: boolean): CelType {
    const texts = types.map((each) => formatType(this.#types.resolve(each, true)));
    const list = isMember ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
    return this.#issue(at, `found no matching overload for '${name}' applied to '${list}'`);
  }

  #list(expr: Extract<Expr, { kind: 'list' }>): CelType {
    let joined: CelType | undefined;
    for (const { value, isOptional } of expr.items) {
      joined = this.#join(joined, this.#elementType(value, isOptional));
    }
    return listOf(joined ?? this.#types.fresh());
  }

  #map(expr: Extract<Expr, { kind: 'map' }>): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, isOptional } of expr.entries) {
      keys = this.#join(keys, this.#visit(key));
      values = this.#join(values, this.#elementType(value, isOptional));
    }
    return mapOf(keys ?? this.#types.fresh(), values ?? this.#types.fresh());
  }

  #elementType(expr: Expr, isOptional: boolean): CelType {
    const type = this.#types.resolve(this.#visit(expr));
    if (!isOptional || type.kind === 'dyn') return type;
    if (type.kind === 'optional') return type.params[0]!;
    return this.#mismatch(expr.at, optionalOf(type), type);
  }

  /** Items of several types make a list of dyn; `literalIssues` refuses those that may not. */
  #join(previous: CelType | undefined, type: CelType): CelType {
    if (previous === undefined) return type;
    return this.#types.assignable(previous, type) ? mostGeneral(previous, type) : t.DYN;
  }

  #comprehension(expr: Comprehension): CelType {
    const range = this.#types.resolve(this.#visit(expr.range));
    if (expr.macro === 'optMap' || expr.macro === 'optFlatMap') return this.#intoOptional(expr, range);
    const [first, second] = this.#iterated(expr, range);
    const scope = new Map([[expr.variables[0]!, first]]);
    if (expr.variables[1] !== undefined) scope.set(expr.variables[1], second);
    this.#scopes.push(scope);
    if (expr.filter !== undefined) this.#condition(expr, expr.filter);
    const type = this.#loopResult(expr, first);
    this.#scopes.pop();
    return type;
  }

  /** The types of the loop variables: one variable is an item or a key, two are index and item, or key and value. */
  #iterated({ range, variables }: Comprehension, type: CelType): [CelType, CelType] {
    const hasTwo = variables.length === 2;
    switch (type.kind) {
      case 'list':
        return hasTwo ? [t.INT, type.params[0]!] : [type.params[0]!, t.DYN];
      case 'map':
        return [type.params[0]!, type.params[1]!];
      case 'dyn':
      case 'error':
      case 'param':
        this.#types.assignable(t.DYN, type);
        return [t.DYN, t.DYN];
      default: {
        const text = `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#issue(range.at, text);
        return [t.ERROR, t.ERROR];
      }
    }
  }

  #loopResult(expr: Comprehension, first: CelType): CelType {
    switch (expr.macro) {
      case 'all':
      case 'exists':
        this.#expect(expr.body, this.#visit(expr.body), t.BOOL);
        return t.BOOL;
      case 'exists_one':
        this.#condition(expr, expr.body);
        return t.BOOL;
      case 'filter':
        this.#condition(expr, expr.body);
        return listOf(first);
      case 'transformMap':
        return mapOf(first, this.#visit(expr.body));
      case 'transformMapEntry':
        return this.#visit(expr.body);
      case 'sortBy':
        return this.#sortable(expr, first);
      default:
        return listOf(this.#visit(expr.body));
    }
  }

  #sortable(expr: Comprehension, item: CelType): CelType {
    const key = this.#types.resolve(this.#visit(expr.body));
    const isOrdered = key.kind !== 'null' && t.SIMPLE_TYPES.some(({ kind }) => kind === key.kind);
    if (isOrdered || key.kind === 'error' || key.kind === 'param') return listOf(item);
    return this.#noOverload(expr.at, '@sortByAssociatedKeys', [listOf(item), listOf(key)], true);
  }

  #intoOptional(expr: Comprehension, range: CelType): CelType {
    const isWrong = range.kind !== 'optional' && !isDynamic(range);
    for (const name of isWrong ? ['hasValue', 'value'] : []) this.#noOverload(expr.at, name, [range], true);
    const inner = range.kind === 'optional' ? range.params[0]! : isWrong ? t.ERROR : t.DYN;
    this.#scopes.push(new Map([[expr.variables[0]!, inner]]));
    const body = this.#types.resolve(this.#visit(expr.body));
    this.#scopes.pop();
    if (expr.macro === 'optMap') return optionalOf(body);
    if (body.kind === 'optional' || isDynamic(body)) return body;
    return this.#noOverload(expr.at, '_?_:_', [t.BOOL, body, optionalOf(t.DYN)], false);
  }

  /** The condition by which a loop keeps or drops an item. */
  #condition(expr: Comprehension, condition: Expr): void {
    const type = this.#visit(condition);
    if (this.#types.assignable(type, t.BOOL)) return;
    const kept = expr.macro === 'exists_one' ? t.INT : listOf(this.#lookup(expr.variables[0]!) ?? t.DYN);
    this.#noOverload(expr.at, '_?_:_', [type, kept, kept], false);
  }

  #expect(expr: Expr, type: CelType, wanted: CelType): void {
    if (!this.#types.assignable(type, wanted)) this.#mismatch(expr.at, wanted, type);
  }

  #mismatch(at: number, wanted: CelType, type: CelType): CelType {
    const [expected, found] = [wanted, type].map((each) => formatType(this.#types.resolve(each)));
    return this.#issue(at, `expected type '${expected}' but found '${found}'`);
  }

  #issue(at: number, message: string): CelType {
    this.#issues.push({ at, message });
    return t.ERROR;
  }
}

function typeOfLiteral({ value }: Literal): CelType {
  return TYPE_NAMES.get(value === null ? 'null_type' : kindOf(value))!;
}

function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.isTest || expr.isOptional) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

function replace(type: CelType, fresh: ReadonlyMap<string, CelType>): CelType {
  if (type.kind === 'param') return fresh.get(type.name) ?? type;
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((each) => replace(each, fresh)) };
}

import type { CelType } from './cel-types.js';
import type { Overload } from './overload.js';
import type { Value } from './values.js';

/** A node of a parsed expression. Messages point to `at`: its operator, its dot or its opening bracket. */
interface Node {
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(a.b)` */
  readonly isTest: boolean;
  /** `a.?b` */
  readonly isOptional: boolean;
  /** Set by the checker when the whole node is one qualified name. */
  qualified?: string;
}

export interface Call extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Set by the checker. */
  resolved?: { readonly name: string; readonly overloads: readonly Overload[]; readonly args: readonly Expr[] };
}

export interface ListNode extends Node {
  readonly kind: 'list';
  readonly items: readonly { readonly value: Expr; readonly isOptional: boolean }[];
}

export interface MapNode extends Node {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly isOptional: boolean }[];
}

interface StructNode extends Node {
  readonly kind: 'struct';
  readonly name: string;
}

export type MacroName =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy'
  | 'optMap'
  | 'optFlatMap';

/** A loop over `range`, or one step into an optional. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly macro: MacroName;
  readonly range: Expr;
  readonly variables: readonly string[];
  readonly filter: Expr | undefined;
  readonly body: Expr;
}

export type Expr = Literal | Ident | Select | Call | ListNode | MapNode | StructNode | Comprehension;

/** The direct parts of a node; those of a checked call are the arguments of the function that it resolved to. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return expr.qualified === undefined ? [expr.operand] : [];
    case 'call':
      return expr.resolved?.args ?? (expr.target === undefined ? expr.args : [expr.target, ...expr.args]);
    case 'list':
      return expr.items.map(({ value }) => value);
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'comprehension':
      return [expr.range, ...(expr.filter === undefined ? [] : [expr.filter]), expr.body];
    default:
      return [];
  }
}

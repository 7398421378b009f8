import type { CelType } from './cel-types.js';
import type { Overload } from './overload.js';
import type { Value } from './values.js';

/** `at` is where a node is told of in messages: the operator, the dot or the opening bracket of it. */
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
  /** `has(a.b)`: whether it is there. */
  readonly isTest: boolean;
  /** `a.?b` */
  readonly isOptional: boolean;
  /** Set by the checker when the whole is one qualified name. */
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

export interface StructNode extends Node {
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

import { CelCompileError } from './compile-error.js';
import type { Comprehension, Expr, MacroName } from './syntax.js';

interface MacroForm {
  readonly macro: MacroName;
  readonly variables: 1 | 2;
  readonly hasFilter?: boolean;
}

/** By name and number of arguments. */
const FORMS: Readonly<Record<string, MacroForm>> = {
  'all/2': { macro: 'all', variables: 1 },
  'exists/2': { macro: 'exists', variables: 1 },
  'exists_one/2': { macro: 'exists_one', variables: 1 },
  'map/2': { macro: 'map', variables: 1 },
  'map/3': { macro: 'map', variables: 1, hasFilter: true },
  'filter/2': { macro: 'filter', variables: 1 },
  'all/3': { macro: 'all', variables: 2 },
  'exists/3': { macro: 'exists', variables: 2 },
  'exists_one/3': { macro: 'exists_one', variables: 2 },
  'existsOne/3': { macro: 'exists_one', variables: 2 },
  'transformList/3': { macro: 'transformList', variables: 2 },
  'transformList/4': { macro: 'transformList', variables: 2, hasFilter: true },
  'transformMap/3': { macro: 'transformMap', variables: 2 },
  'transformMap/4': { macro: 'transformMap', variables: 2, hasFilter: true },
  'transformMapEntry/3': { macro: 'transformMapEntry', variables: 2 },
  'transformMapEntry/4': { macro: 'transformMapEntry', variables: 2, hasFilter: true },
  'sortBy/2': { macro: 'sortBy', variables: 1 },
  'optMap/2': { macro: 'optMap', variables: 1 },
  'optFlatMap/2': { macro: 'optFlatMap', variables: 1 },
};

/** Expands a macro; returns undefined for an ordinary call. */
export function expandMacro(
  source: string,
  at: number,
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
): Expr | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? presence(source, at, args[0]!) : undefined;
  const form = FORMS[`${name}/${args.length}`];
  if (form === undefined) return undefined;
  const variables = args.slice(0, form.variables).map((each) => variableOf(source, form, each));
  if (variables.length === 2 && variables[0] === variables[1]) {
    throw new CelCompileError(source, [{ at: args[1]!.at, message: `duplicate variable name: ${variables[0]}` }]);
  }
  const filter = form.hasFilter ? args[form.variables] : undefined;
  return {
    kind: 'comprehension',
    at,
    macro: form.macro,
    range: target,
    variables,
    filter,
    body: args.at(-1)!,
  } satisfies Comprehension;
}

function presence(source: string, at: number, operand: Expr): Expr {
  if (operand.kind === 'select' && !operand.isTest) return { ...operand, at, isTest: true };
  throw new CelCompileError(source, [{ at: operand.at, message: 'invalid argument to has() macro' }]);
}

function variableOf(source: string, { macro, variables }: MacroForm, expr: Expr): string {
  if (expr.kind === 'ident') return expr.name;
  const isQuantifier = macro === 'all' || macro === 'exists' || macro === 'exists_one';
  const message = macro.startsWith('opt')
    ? `${macro}() variable name must be a simple identifier`
    : variables === 2 || isQuantifier
      ? 'argument must be a simple name'
      : 'argument is not an identifier';
  throw new CelCompileError(source, [{ at: expr.at, message }]);
}

import { CHARACTER_COST } from './budget.js';
import type { CelType } from './cel-types.js';
import * as t from './cel-types.js';
import { sizeOf, type Value } from './values.js';

/** What a call costs, from its arguments and its result. */
export type CallCost = (args: readonly Value[], result: Value) => number;

/**
 * One form of a function. `run` takes the target of a member call first. When the types of an expression leave a choice, it
 * is made at run time by the kinds of the arguments, so forms that differ only in what a list holds share one `run`.
 */
export interface Overload {
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly variables: readonly string[];
  readonly run: (...args: Value[]) => Value;
  /** Absent: one unit. */
  readonly cost?: CallCost;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/**
 * A form from its signature: `size(string) -> int`, with the target of a member before two colons:
 * `string::contains(string) -> bool`. One capital letter is a type variable.
 */
export function declare(
  signature: string,
  run: (...args: never[]) => Value,
  cost?: CallCost,
): { readonly name: string; readonly overload: Overload } {
  const match = /^(?:(.+)::)?([^()\s]+)\((.*)\) -> (.+)$/.exec(signature);
  if (match === null) throw new Error(`not a signature: ${signature}`);
  const [, target, name, list, result] = match as unknown as [string, string | undefined, string, string, string];
  const texts = [...(target === undefined ? [] : [target]), ...splitList(list)];
  const overload: Overload = {
    isMember: target !== undefined,
    args: texts.map(parseType),
    result: parseType(result),
    variables: [...new Set(signature.match(/\b[A-Z]\b/g) ?? [])],
    run: run as (...args: Value[]) => Value,
    ...(cost === undefined ? {} : { cost }),
  };
  return { name, overload };
}

/** The price of walking over the first argument `times` times. */
export function traversal(times = 1): CallCost {
  return (args) => Math.ceil(sizeOf(args[0]!) * times * CHARACTER_COST);
}

const NAMED: Readonly<Record<string, CelType>> = {
  bool: t.BOOL,
  int: t.INT,
  uint: t.UINT,
  double: t.DOUBLE,
  string: t.STRING,
  bytes: t.BYTES,
  null: t.NULL,
  timestamp: t.TIMESTAMP,
  duration: t.DURATION,
  dyn: t.DYN,
  url: t.URL,
  quantity: t.QUANTITY,
  ip: t.IP,
  cidr: t.CIDR,
  format: t.FORMAT,
  semver: t.SEMVER,
};

function parseType(text: string): CelType {
  const generic = /^(list|map|optional|type)<(.+)>$/.exec(text);
  if (generic === null) {
    if (/^[A-Z]$/.test(text)) return t.param(text);
    const named = NAMED[text];
    if (named === undefined) throw new Error(`not a type: ${text}`);
    return named;
  }
  const params = splitList(generic[2]!).map(parseType);
  if (generic[1] === 'list') return t.listOf(params[0]!);
  if (generic[1] === 'map') return t.mapOf(params[0]!, params[1]!);
  return generic[1] === 'type' ? t.typeOfType(params[0]!) : t.optionalOf(params[0]!);
}

/** At the commas outside of angle brackets. */
function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text) {
    if (character === '<') depth++;
    if (character === '>') depth--;
    if (character === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  if (part.trim() !== '') parts.push(part.trim());
  return parts;
}

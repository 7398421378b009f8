import { CHARACTER_COST } from './budget.js';
import type { CelType } from './cel-types.js';
import * as t from './cel-types.js';
import { sizeOf, type Value } from './values.js';

/** The cost of a call, computed from its arguments and its result. */
export type CallCost = (args: readonly Value[], result: Value) => number;

/**
 * One overload of a function. `run` takes the target of a member call as its first argument. When the
 * types of an expression leave a choice, it is made at run time by the kinds of the arguments, so
 * overloads that differ only in the items of a list share one `run`.
 */
export interface Overload {
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly variables: readonly string[];
  readonly run: (...args: Value[]) => Value;
  /** By default one unit. */
  readonly cost?: CallCost;
}

/**
 * Declares an overload by its signature: `size(string) -> int`, or with the target of a member call
 * before two colons: `string::contains(string) -> bool`. A capital letter is a type variable. An
 * optional parameter of `run` gets its default in signatures without it.
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

/** The cost of reading the first argument `times` times. */
export function traversal(times = 1): CallCost {
  return (args) => Math.ceil(sizeOf(args[0]!) * times * CHARACTER_COST);
}

const NAMED: Readonly<Record<string, CelType>> = {
  ...Object.fromEntries(t.SIMPLE_TYPES.map((type) => [type.kind, type])),
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

/** Splits at the commas outside of angle brackets. */
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

import type { Json } from '../../kube/json.js';
import { goQuote } from '../values/go-quote.js';
import { goValue } from './go-values.js';

/** One cause of an `Invalid` answer. */
export interface FieldProblem {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export interface ValidationOptions {
  /**
   * Whether a text matches a pattern in Go's syntax. Patterns come from users, so the function must
   * bound the work of hostile ones. Without it patterns are not checked.
   */
  readonly matchesPattern?: (pattern: string, text: string) => boolean;
}

/** Bound on the problems of one object. */
export const PROBLEMS_MAX = 100;

/** Bound on the characters of all messages of one object: a message may list thousands of values. */
export const PROBLEMS_CHARS_MAX = 512 * 1024;

/** kube-apiserver's name for the field of a problem that has none. */
export const NO_FIELD = '<nil>';

export function required(field: string, detail = ''): FieldProblem {
  return problem('FieldValueRequired', field, 'Required value', detail);
}

export function forbidden(field: string, detail: string): FieldProblem {
  return problem('FieldValueForbidden', field, 'Forbidden', detail);
}

export function invalid(field: string, value: Json, detail: string): FieldProblem {
  return problem('FieldValueInvalid', field, `Invalid value: ${goValue(value)}`, detail);
}

/** An invalid value with its text, for values that kube-apiserver does not print as JSON. */
export function invalidText(field: string, valueText: string, detail: string): FieldProblem {
  return problem('FieldValueInvalid', field, `Invalid value: ${valueText}`, detail);
}

export function typeInvalid(field: string, value: string, detail: string): FieldProblem {
  return problem('FieldValueTypeInvalid', field, `Invalid value: ${goQuote(value)}`, detail);
}

export function notSupported(field: string, value: Json, supported: readonly string[]): FieldProblem {
  return notSupportedAmong(field, value, supported.map(goQuote).join(', '));
}

/** Same as `notSupported`, with the text of the list. */
export function notSupportedAmong(field: string, value: Json, list: string): FieldProblem {
  return problem(
    'FieldValueNotSupported',
    field,
    `Unsupported value: ${goValue(value)}`,
    list === '' ? '' : `supported values: ${list}`,
  );
}

export function tooLong(field: string, lengthMax: number): FieldProblem {
  return problem(
    'FieldValueTooLong',
    field,
    'Too long',
    `may not be more than ${lengthMax} ${plural(lengthMax, 'byte')}`,
  );
}

export function tooMany(field: string, count: number, countMax: number): FieldProblem {
  return problem(
    'FieldValueTooMany',
    field,
    `Too many: ${count}`,
    `must have at most ${countMax} ${plural(countMax, 'item')}`,
  );
}

export function duplicate(field: string, value: Json): FieldProblem {
  return problem('FieldValueDuplicate', field, `Duplicate value: ${goValue(value)}`, '');
}

function problem(reason: string, field: string, text: string, detail: string): FieldProblem {
  return { reason, message: detail === '' ? text : `${text}: ${detail}`, field };
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

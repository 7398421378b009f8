import type { FieldProblem, ValidationOptions } from './field-problems.js';
import { invalid, NO_FIELD, tooLong, typeInvalid } from './field-problems.js';
import type { Schema } from './schema.js';
import { textFormat } from './schema-formats.js';

/** Where a value is: `name` as texts say it, `field` as causes do, and what to call the whole. */
export interface ValuePlace {
  readonly name: string;
  readonly field: string;
  readonly wholeField: string;
}

/** The first of length and pattern that fails. */
export function stringProblems(
  text: string,
  schema: Schema,
  place: ValuePlace,
  options: ValidationOptions,
): FieldProblem[] {
  const { minLength, maxLength, pattern } = schema.limits ?? {};
  // There are never more characters than units of UTF-16: most texts need no counting.
  const length = minLength === undefined && (maxLength === undefined || text.length <= maxLength) ? 0 : countOf(text);
  if (maxLength !== undefined && length > maxLength) return [tooLong(place.field, maxLength)];
  if (minLength !== undefined && length < minLength) {
    return [invalid(place.field, text, `${place.name} in body should be at least ${minLength} chars long`)];
  }
  const matches = options.matchesPattern;
  if (pattern !== undefined && matches !== undefined && !matches(pattern, text)) {
    return [invalid(place.field, text, `${place.name} in body should match '${pattern}'`)];
  }
  return [];
}

export function formatProblems(text: string, schema: Schema, place: ValuePlace): FieldProblem[] {
  const { format } = schema;
  if (format === undefined || (schema.type !== undefined && schema.type !== 'string')) return [];
  const matches = textFormat(format);
  if (matches === undefined || matches(text)) return [];
  return [typeInvalid(place.field, text, `${place.name} in body must be of type ${format}: ${JSON.stringify(text)}`)];
}

export function numberProblems(value: number, schema: Schema, place: ValuePlace): FieldProblem[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema.limits ?? {};
  const problems = rangeProblems('Checked value', value, schema, place);
  problems.push(...multipleProblems(value, schema, place));
  const say = (text: string): number =>
    problems.push(invalid(place.field, value, `${place.name} in body should be ${text}`));
  if (maximum !== undefined) {
    problems.push(...rangeProblems('Maximum boundary value', maximum, schema, place));
    const limit = limitFor(value, maximum, schema);
    if (exclusiveMaximum === true ? value >= limit : value > limit) {
      say(exclusiveMaximum === true ? `less than ${limit}` : `less than or equal to ${limit}`);
    }
  }
  if (minimum !== undefined) {
    problems.push(...rangeProblems('Minimum boundary value', minimum, schema, place));
    const limit = limitFor(value, minimum, schema);
    if (exclusiveMinimum === true ? value <= limit : value < limit) {
      say(exclusiveMinimum === true ? `greater than ${limit}` : `greater than or equal to ${limit}`);
    }
  }
  return problems;
}

/** kube-apiserver compares whole numbers with the whole part of a limit, unless the limit itself is out of place. */
function limitFor(value: number, limit: number, schema: Schema): number {
  const isOutOfPlace = schema.type === 'integer' && !Number.isInteger(limit);
  return Number.isInteger(value) && !isOutOfPlace ? Math.trunc(limit) : limit;
}

function multipleProblems(value: number, schema: Schema, place: ValuePlace): FieldProblem[] {
  const multipleOf = schema.limits?.multipleOf;
  if (multipleOf === undefined) return [];
  const { name, field } = place;
  const factor = limitFor(value, multipleOf, schema);
  const problems = rangeProblems('MultipleOf value', multipleOf, schema, place);
  if (factor <= 0) {
    problems.push(invalid(field, factor, `factor MultipleOf declared for ${name} must be positive: ${factor}`));
  } else if (!isMultiple(value, factor)) {
    problems.push(invalid(field, value, `${name} in body should be a multiple of ${factor}`));
  }
  return problems;
}

function rangeProblems(what: string, value: number, schema: Schema, { name, wholeField }: ValuePlace): FieldProblem[] {
  if (schema.type !== 'integer' || isOfFormat(value, schema.format)) return [];
  const { format } = schema;
  const known = format === 'int32' || format === 'int64' ? `with format ${format}` : '(default format)';
  const text = `${what} must be of type integer ${known} in ${name}`;
  return [invalid(wholeField === '' ? NO_FIELD : wholeField, '', text)];
}

function isOfFormat(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

function isMultiple(value: number, of: number): boolean {
  const quotient = of < 1 ? (1 / of) * value : value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function countOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

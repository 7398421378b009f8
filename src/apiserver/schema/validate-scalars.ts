import type { FieldProblems } from './field-problems.js';
import type { Schema } from './schema.js';

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) =>
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(text) && isDate(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDate(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(text),
};

function isDate(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

export function checkString(text: string, schema: Schema, path: string, problems: FieldProblems): void {
  const { minLength, maxLength, pattern } = schema.limits ?? {};
  if (maxLength !== undefined && [...text].length > maxLength) problems.tooLong(path, maxLength);
  if (minLength !== undefined && [...text].length < minLength) {
    problems.invalid(path, text, `${path} in body should be at least ${minLength} chars long`);
  }
  const matches = problems.options.matchesPattern;
  if (pattern !== undefined && matches !== undefined && !matches(pattern, text)) {
    problems.invalid(path, text, `${path} in body should match '${pattern}'`);
  }
  const { format } = schema;
  if (format !== undefined && Object.hasOwn(FORMATS, format) && !FORMATS[format]!(text)) {
    problems.wrongFormat(path, text, format);
  }
}

export function checkNumber(value: number, schema: Schema, path: string, problems: FieldProblems): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema.limits ?? {};
  if (schema.type === 'integer' && !isOfFormat(value, schema.format)) {
    const format = schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
    problems.outOfFormat(`Checked value must be of type integer ${format} in ${path}`);
  }
  const say = (text: string): void => problems.invalid(path, value, `${path} in body should be ${text}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    say(exclusiveMaximum ? `less than ${maximum}` : `less than or equal to ${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    say(exclusiveMinimum ? `greater than ${minimum}` : `greater than or equal to ${minimum}`);
  }
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) say(`a multiple of ${multipleOf}`);
}

function isOfFormat(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

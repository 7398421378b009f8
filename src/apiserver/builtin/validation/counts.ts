import type { Json } from '../../../kube/json.js';
import { percentProblems } from '../built-in-formats.js';
import type { Problems } from '../problems.js';

/** A count, or a part of the whole as `25%`. */
export function checkIntOrPercent(problems: Problems, field: string, value: Json | undefined): void {
  if (typeof value === 'string') problems.format(field, value, percentProblems);
  else problems.nonNegative(field, value);
}

export function intOrPercent(value: Json | undefined): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Number.parseInt(value, 10) || 0 : 0;
}

export function checkPercentIsPart(problems: Problems, field: string, value: Json | undefined): void {
  if (typeof value === 'string' && percentProblems(value).length === 0 && intOrPercent(value) > 100) {
    problems.invalid(field, value, 'must not be greater than 100%');
  }
}

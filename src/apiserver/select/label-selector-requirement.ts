import { labelKeyProblems, labelValueProblems } from '../values/object-meta.js';

/** The operators as they are written; a lone key is `exists`, `!key` its opposite. */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** A selector that cannot be understood: answered as BadRequest, with this message. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorError';
  }
}

const INT64 = /^[+-]?\d+$/;
const INT64_MAX = 2n ** 63n - 1n;

export function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const problems = labelKeyProblems(key).length > 0 ? [keyProblem(key, 'key')] : [];
  problems.push(...countProblems(operator, values));
  for (const [index, value] of values.entries()) {
    const wrong = labelValueProblems(value);
    if (wrong.length > 0) problems.push(`values[${index}][${key}]: ${invalid(value)}: ${wrong.join('; ')}`);
  }
  if (problems.length > 0) throw new SelectorError(aggregate(problems));
  return { key, operator, values };
}

/** A key that cannot be one ends the parse at once, before the operator is read; kube-apiserver knows no path for it. */
export function checkKey(key: string): void {
  if (labelKeyProblems(key).length > 0) throw new SelectorError(keyProblem(key, '<nil>'));
}

function countProblems(operator: LabelOperator, values: readonly string[]): string[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0
        ? []
        : [`values: ${invalid(values)}: for 'in', 'notin' operators, values set can't be empty`];
    case 'exists':
    case '!':
      return values.length === 0
        ? []
        : [`values: ${invalid(values)}: values set must be empty for exists and does not exist`];
    case 'gt':
    case 'lt':
      return values.flatMap((value, index) =>
        isInt64(value)
          ? []
          : [`values[${index}]: ${invalid(value)}: for 'Gt', 'Lt' operators, the value must be an integer`],
      );
    default:
      return [];
  }
}

function isInt64(text: string): boolean {
  if (!INT64.test(text) || text.length > 24) return false;
  const value = BigInt(text.replace(/^\+/, ''));
  return value <= INT64_MAX && value >= -INT64_MAX - 1n;
}

function keyProblem(key: string, path: string): string {
  return `${path}: ${invalid(key)}: ${labelKeyProblems(key).join('; ')}`;
}

function invalid(value: string | readonly string[]): string {
  return `Invalid value: ${JSON.stringify(value)}`;
}

/** Several errors as one text, each said once. */
function aggregate(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}

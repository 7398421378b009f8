import type { Json } from '../../api/json.js';

/** One cause of an `Invalid` answer. */
export interface FieldProblem {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export interface ValidationOptions {
  /**
   * Whether a text matches a pattern in Go's syntax. Patterns come from users: without one that is safe against hostile
   * patterns they are not looked at.
   */
  readonly matchesPattern?: (pattern: string, text: string) => boolean;
}

/** One object's problems beyond this are not looked for. */
export const PROBLEMS_MAX = 100;

/** Collects problems in kube-apiserver's words. */
export class FieldProblems {
  readonly all: FieldProblem[] = [];

  constructor(readonly options: ValidationOptions) {}

  get isFull(): boolean {
    return this.all.length >= PROBLEMS_MAX;
  }

  required(field: string): void {
    this.add('FieldValueRequired', 'Required value', field);
  }

  wrongType(field: string, actual: string, wanted: string): void {
    const text = JSON.stringify(actual);
    const where = field === '' ? '' : `${field} `;
    this.add(
      'FieldValueTypeInvalid',
      `Invalid value: ${text}: ${where}in body must be of type ${wanted}: ${text}`,
      field,
    );
  }

  wrongFormat(field: string, value: string, format: string): void {
    const text = JSON.stringify(value);
    this.add(
      'FieldValueTypeInvalid',
      `Invalid value: ${text}: ${field} in body must be of type ${format}: ${text}`,
      field,
    );
  }

  /** kube-apiserver knows no field for this one, only the text does. */
  outOfFormat(text: string): void {
    this.add('FieldValueInvalid', `Invalid value: "": ${text}`, '<nil>');
  }

  invalid(field: string, value: Json, text: string): void {
    this.add('FieldValueInvalid', `Invalid value: ${JSON.stringify(value)}: ${text}`, field);
  }

  unsupported(field: string, value: Json, supported: readonly Json[]): void {
    const list = supported.map((each) => JSON.stringify(each)).join(', ');
    this.add('FieldValueNotSupported', `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`, field);
  }

  tooLong(field: string, lengthMax: number): void {
    this.add('FieldValueTooLong', `Too long: may not be more than ${lengthMax} bytes`, field);
  }

  tooMany(field: string, count: number, countMax: number): void {
    this.add('FieldValueTooMany', `Too many: ${count}: must have at most ${countMax} items`, field);
  }

  duplicate(field: string, value: Json): void {
    this.add('FieldValueDuplicate', `Duplicate value: ${JSON.stringify(value)}`, field);
  }

  private add(reason: string, message: string, field: string): void {
    if (!this.isFull) this.all.push({ reason, message, field });
  }
}

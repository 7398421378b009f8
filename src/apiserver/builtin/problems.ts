import type { Json } from '../../kube/json.js';
import { type FieldProblem, PROBLEMS_MAX } from '../schema/field-problems.js';

/** Collects what is wrong with an object of a built-in kind, in kube-apiserver's words. */
export class Problems {
  readonly all: FieldProblem[] = [];

  required(field: string, detail = ''): void {
    this.#add('FieldValueRequired', withDetail('Required value', detail), field);
  }

  invalid(field: string, value: Json | undefined, detail: string): void {
    this.#add('FieldValueInvalid', withDetail(`Invalid value: ${goJson(value)}`, detail), field);
  }

  /** One problem for each text. */
  invalidEach(field: string, value: Json | undefined, details: readonly string[]): void {
    for (const detail of details) this.invalid(field, value, detail);
  }

  unsupported(field: string, value: Json | undefined, supported: readonly string[]): void {
    const list = supported.map((each) => JSON.stringify(each)).join(', ');
    this.#add('FieldValueNotSupported', `Unsupported value: ${goJson(value)}: supported values: ${list}`, field);
  }

  forbidden(field: string, detail: string): void {
    this.#add('FieldValueForbidden', withDetail('Forbidden', detail), field);
  }

  duplicate(field: string, value: Json, detail = ''): void {
    this.#add('FieldValueDuplicate', withDetail(`Duplicate value: ${goJson(value)}`, detail), field);
  }

  notFound(field: string, value: Json, detail = ''): void {
    this.#add('FieldValueNotFound', withDetail(`Not found: ${goJson(value)}`, detail), field);
  }

  /** Where the value is too much to be printed. */
  invalidWhole(field: string, detail: string): void {
    this.#add('FieldValueInvalid', `Invalid value: ${detail}`, field);
  }

  tooLong(field: string, bytesMax: number): void {
    this.#add('FieldValueTooLong', `Too long: may not be more than ${bytesMax} bytes`, field);
  }

  tooMany(field: string, count: number, countMax: number): void {
    this.#add('FieldValueTooMany', `Too many: ${count}: must have at most ${countMax} items`, field);
  }

  /** Records a problem unless the value is one of those that are supported. */
  oneOf(field: string, value: Json | undefined, supported: readonly string[]): void {
    if (typeof value !== 'string' || !supported.includes(value)) this.unsupported(field, value, supported);
  }

  nonNegative(field: string, value: Json | undefined): void {
    if (typeof value === 'number' && value < 0) this.invalid(field, value, 'must be greater than or equal to 0');
  }

  /** Further problems are not kept: whoever has many left to look for can stop. */
  get isFull(): boolean {
    return this.all.length >= PROBLEMS_MAX;
  }

  get count(): number {
    return this.all.length;
  }

  #add(reason: string, message: string, field: string): void {
    if (this.all.length < PROBLEMS_MAX) this.all.push({ reason, message, field });
  }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/** Values as Go's encoder writes them: with what could be HTML escaped. */
function goJson(value: Json | undefined): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return JSON.stringify(value ?? null)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026');
}

import type { Json, JsonObject } from '../../kube/json.js';
import {
  type FieldProblem,
  forbidden,
  invalidText,
  PROBLEMS_MAX,
  required,
  tooLong,
  tooMany,
} from '../schema/field-problems.js';
import { goJsonInOrder } from '../schema/go-values.js';
import { goQuote } from '../values/go-quote.js';
import { has, number, pathOf, text } from './fields.js';

/** Collects the problems of an object of a built-in kind, in kube-apiserver's words. */
export class Problems {
  readonly all: FieldProblem[] = [];

  required(field: string, detail = ''): void {
    this.#add(required(field, detail));
  }

  invalid(field: string, value: Json | undefined, detail: string): void {
    this.#add(invalidText(field, printed(value), detail));
  }

  /** One problem for each text. */
  invalidEach(field: string, value: Json | undefined, details: readonly string[]): void {
    for (const detail of details) this.invalid(field, value, detail);
  }

  /** Records the problems that a rule finds in a value. */
  format<T extends string | number>(field: string, value: T, problemsOf: (value: T) => readonly string[]): void {
    this.invalidEach(field, value, problemsOf(value));
  }

  optionalFormat(field: string, value: string, problemsOf: (value: string) => readonly string[]): void {
    if (value !== '') this.format(field, value, problemsOf);
  }

  requiredFormat(field: string, value: string, problemsOf: (value: string) => readonly string[]): void {
    if (value === '') this.required(field);
    else this.format(field, value, problemsOf);
  }

  /** Records each of the members that is missing or empty. */
  requiredMembers(object: JsonObject | undefined, field: string, ...keys: readonly string[]): void {
    for (const key of keys) {
      const value = object?.[key];
      const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
      if (!has(object, key) || isEmpty) this.required(pathOf(field, key));
    }
  }

  unsupported(field: string, value: Json | undefined, supported: readonly string[]): void {
    const message = `Unsupported value: ${printed(value)}: supported values: ${supported.map(goQuote).join(', ')}`;
    this.#add({ reason: 'FieldValueNotSupported', message, field });
  }

  forbidden(field: string, detail: string): void {
    this.#add(forbidden(field, detail));
  }

  duplicate(field: string, value: Json, detail = ''): void {
    const message = withDetail(`Duplicate value: ${printed(value)}`, detail);
    this.#add({ reason: 'FieldValueDuplicate', message, field });
  }

  /** Adds a value to those seen before, and records a problem where it is one of them. */
  unique<T extends string | number>(field: string, value: T, seen: Set<T>): void {
    if (seen.has(value)) this.duplicate(field, value);
    seen.add(value);
  }

  notFound(field: string, value: Json, detail = ''): void {
    this.#add({ reason: 'FieldValueNotFound', message: withDetail(`Not found: ${printed(value)}`, detail), field });
  }

  /** An invalid value that is too long for the message. */
  invalidWhole(field: string, detail: string): void {
    this.#add(invalidText(field, detail, ''));
  }

  tooLong(field: string, bytesMax: number): void {
    this.#add(tooLong(field, bytesMax));
  }

  tooMany(field: string, count: number, countMax: number): void {
    this.#add(tooMany(field, count, countMax));
  }

  /** Records a problem unless the value is supported. */
  oneOf(field: string, value: Json | undefined, supported: readonly string[]): void {
    if (typeof value !== 'string' || !supported.includes(value)) this.unsupported(field, value, supported);
  }

  optionalOneOf(object: JsonObject | undefined, field: string, key: string, supported: readonly string[]): void {
    if (has(object, key)) this.oneOf(pathOf(field, key), text(object, key), supported);
  }

  nonNegative(field: string, value: Json | undefined): void {
    if (typeof value === 'number' && value < 0) this.invalid(field, value, 'must be greater than or equal to 0');
  }

  nonNegativeMembers(object: JsonObject | undefined, field: string, ...keys: readonly string[]): void {
    for (const key of keys) this.nonNegative(pathOf(field, key), number(object, key));
  }

  /** No further problem will be kept, so checks of long lists can stop. */
  get isFull(): boolean {
    return this.all.length >= PROBLEMS_MAX;
  }

  get count(): number {
    return this.all.length;
  }

  #add(problem: FieldProblem): void {
    if (!this.isFull) this.all.push(problem);
  }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/** A value as kube-apiserver prints it; the members of an object keep their order. */
function printed(value: Json | undefined): string {
  return typeof value === 'string' ? goQuote(value) : goJsonInOrder(value ?? null);
}

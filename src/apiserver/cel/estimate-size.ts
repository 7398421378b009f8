import type { CelType } from './cel-types.js';

/** The least and the most of something. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** Costs and sizes do not grow beyond what 64 bits hold: this stands for everything that is too much. */
export const TOO_MUCH = 2 ** 64;
export const UNKNOWN: Size = { min: 0, max: TOO_MUCH };

export function addUp(...costs: readonly number[]): number {
  return Math.min(
    TOO_MUCH,
    costs.reduce((sum, each) => sum + each, 0),
  );
}

export function multiply(left: number, right: number): number {
  return Math.min(TOO_MUCH, left * right);
}

/** Rounded up. */
export function scale(size: number, factor: number): number {
  return Math.min(TOO_MUCH, Math.ceil(size * factor));
}

export function addSizes(left: Size, right: Size): Size {
  return { min: addUp(left.min, right.min), max: addUp(left.max, right.max) };
}

export function multiplySizes(left: Size, right: Size): Size {
  return { min: multiply(left.min, right.min), max: multiply(left.max, right.max) };
}

export function unionOf(left: Size, right: Size): Size {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

/** What is known of a part of an expression. */
export interface Estimate {
  readonly cost: number;
  /** How much of it there can be. */
  readonly size: Size | undefined;
  /** The place in the schema that it is a value of. */
  readonly place: CelType | undefined;
  /** Of the items of a list or the values of a map that the expression itself makes. */
  readonly item: Size | undefined;
}

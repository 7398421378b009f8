import type { CelType } from './cel-types.js';

/** The least and the most characters, items or members of a value. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** The bound of costs and sizes, which kube-apiserver computes with 64 bits. */
const TOO_MUCH = 2 ** 64;
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

/** The estimate of a part of an expression. */
export interface Estimate {
  readonly cost: number;
  /** The size of its value. */
  readonly size: Size | undefined;
  /** The place in the schema that describes its value. */
  readonly place: CelType | undefined;
  /** The size of the items of a list, or of the values of a map, that the expression itself creates. */
  readonly item: Size | undefined;
}

import { fail } from './failure.js';
import { type CelInt, CelUint, INT_MAX, INT_MIN, intFrom, UINT_MAX } from './values.js';

/** An int from a result of any size; 64 bits hold it or the operation fails. */
export function checkedInt(value: bigint): CelInt {
  if (value < INT_MIN || value > INT_MAX) return fail('integer overflow');
  return intFrom(value);
}

export function checkedUint(value: bigint): CelUint {
  if (value < 0n || value > UINT_MAX) return fail('unsigned integer overflow');
  return new CelUint(value);
}

// A sum or product of safe integers that is itself a safe integer is exact; everything else is computed again in full.

export function addInts(left: CelInt, right: CelInt): CelInt {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt(BigInt(left) + BigInt(right));
}

export function subtractInts(left: CelInt, right: CelInt): CelInt {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt(BigInt(left) - BigInt(right));
}

export function multiplyInts(left: CelInt, right: CelInt): CelInt {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    // Adding zero turns a negative zero, which ints do not have, into zero.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInt(BigInt(left) * BigInt(right));
}

export function divideInts(left: CelInt, right: CelInt): CelInt {
  if (right === 0) return fail('division by zero');
  if (typeof left === 'number' && typeof right === 'number') return Math.trunc(left / right) + 0;
  return checkedInt(BigInt(left) / BigInt(right));
}

export function remainderInts(left: CelInt, right: CelInt): CelInt {
  if (right === 0) return fail('modulus by zero');
  if (typeof left === 'number' && typeof right === 'number') return (left % right) + 0;
  if (BigInt(left) === INT_MIN && BigInt(right) === -1n) return fail('integer overflow');
  return checkedInt(BigInt(left) % BigInt(right));
}

export function negateInt(value: CelInt): CelInt {
  return typeof value === 'number' ? 0 - value : checkedInt(-value);
}

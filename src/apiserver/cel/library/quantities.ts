import { compareQuantities, parseQuantity, type Quantity } from '../../values/quantity.js';
import { fail } from '../failure.js';
import { checkedInt } from '../integers.js';
import { declare, traversal } from '../overload.js';
import { CelDouble, type CelInt, CelQuantity, INT_MAX, INT_MIN } from '../values.js';

const BILLION = 1_000_000_000n;

export const QUANTITIES = [
  declare('quantity(string) -> quantity', (text: string) => new CelQuantity(read(text), WHOLE.test(text)), traversal()),
  declare('isQuantity(string) -> bool', isQuantity, traversal()),
  declare('sign(quantity) -> int', ({ quantity }: CelQuantity) => signOf(quantity)),
  declare('quantity::isGreaterThan(quantity) -> bool', (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0),
  declare('quantity::isLessThan(quantity) -> bool', (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0),
  declare('quantity::compareTo(quantity) -> int', compare),
  declare(
    'quantity::asApproximateFloat() -> double',
    ({ quantity }: CelQuantity) => new CelDouble(Number(quantity.billionths) / 1e9),
  ),
  declare('quantity::asInteger() -> int', asInteger),
  declare('quantity::isInteger() -> bool', isInteger),
  declare('quantity::add(quantity) -> quantity', (a: CelQuantity, b: CelQuantity) =>
    plus(a, b.quantity.billionths, b.isWhole),
  ),
  declare('quantity::add(int) -> quantity', (a: CelQuantity, b: CelInt) => plus(a, BigInt(b) * BILLION)),
  declare('quantity::sub(quantity) -> quantity', (a: CelQuantity, b: CelQuantity) =>
    plus(a, -b.quantity.billionths, b.isWhole),
  ),
  declare('quantity::sub(int) -> quantity', (a: CelQuantity, b: CelInt) => plus(a, -BigInt(b) * BILLION)),
];

function read(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    return fail((error as Error).message);
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

function compare(left: CelQuantity, right: CelQuantity): number {
  return compareQuantities(left.quantity, right.quantity);
}

function signOf({ billionths }: Quantity): number {
  return billionths > 0n ? 1 : billionths < 0n ? -1 : 0;
}

/** No fraction, not even of zeros, and no suffix that makes one. */
const WHOLE = /^[+-]?\d+\.?(?:[kMGTPE]i?|Ki|[eE]\+?\d+)?$/;

function isInteger({ quantity: { billionths }, isWhole }: CelQuantity): boolean {
  const whole = billionths / BILLION;
  return isWhole && billionths % BILLION === 0n && whole >= INT_MIN && whole <= INT_MAX;
}

function asInteger(amount: CelQuantity): CelInt {
  if (!isInteger(amount)) return fail('cannot convert value to integer');
  return checkedInt(amount.quantity.billionths / BILLION);
}

function plus({ quantity, isWhole }: CelQuantity, billionths: bigint, isOtherWhole = true): CelQuantity {
  return new CelQuantity({ ...quantity, billionths: quantity.billionths + billionths }, isWhole && isOtherWhole);
}

import { type JsonObject, member } from '../../kube/json.js';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity, QuantityError } from '../values/quantity.js';
import { child } from './fields.js';

/** Amounts by the name of a resource, in canonical form. */
export type QuantityMap = Map<string, string>;

/** The amounts of a member (`requests`, `limits`, `hard`) without malformed ones. */
export function quantities(object: JsonObject | undefined, key: string): QuantityMap {
  const found: QuantityMap = new Map();
  const amounts = child(object, key) ?? {};
  for (const name of Object.keys(amounts)) {
    const amount = amountOf(member(amounts, name));
    if (amount !== undefined) found.set(name, formatQuantity(amount));
  }
  return found;
}

export function amountOf(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  try {
    return parseQuantity(String(value));
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

export function compareAmounts(left: string, right: string): number {
  return compareQuantities(parseQuantity(left), parseQuantity(right));
}

export function addQuantities(sum: QuantityMap, more: ReadonlyMap<string, string>): void {
  for (const [name, amount] of more) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addAmounts(before, amount));
  }
}

/** The larger of both, by name. */
export function raiseQuantities(most: QuantityMap, other: ReadonlyMap<string, string>): void {
  for (const [name, amount] of other) {
    const before = most.get(name);
    if (before === undefined || compareAmounts(amount, before) > 0) most.set(name, amount);
  }
}

function addAmounts(left: string, right: string): string {
  const first = parseQuantity(left);
  return formatQuantity({ family: first.family, billionths: first.billionths + parseQuantity(right).billionths });
}

export function isZeroAmount(amount: string): boolean {
  return parseQuantity(amount).billionths === 0n;
}

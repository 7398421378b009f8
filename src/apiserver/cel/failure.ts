/**
 * The failure of an evaluation (`no such key: x`, `division by zero`). It is not an `Error` because
 * `||` in a loop may discard many, and capturing a stack for each would cost more than the rule.
 */
export class CelFailure {
  constructor(readonly message: string) {}
}

/** The evaluation exceeded its budget. No operator of an expression can discard this failure. */
export class CelBudgetExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';
}

export const NO_SUCH_OVERLOAD = 'no such overload';

export function fail(message: string): never {
  throw new CelFailure(message);
}

export function noSuchOverload(): never {
  throw new CelFailure(NO_SUCH_OVERLOAD);
}

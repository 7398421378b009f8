/**
 * An expression that could not be evaluated (`no such key: x`, `division by zero`). Not an `Error`: rules are evaluated in
 * loops where `||` swallows failures, and collecting a stack for each would cost more than the rule.
 */
export class CelFailure {
  constructor(readonly message: string) {}
}

/** The expression did more work than it may. Nothing in an expression can swallow this one. */
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

import type { Attributes, Authorizer } from './authorizer.js';
import { forbiddenError } from './forbidden.js';

/** Throws Forbidden for the first right that the authorizer does not grant. */
export function demand(authorize: Authorizer['authorize'], rights: Iterable<Attributes>): void {
  for (const right of rights) {
    const { allowed, reason } = authorize(right);
    if (!allowed) throw forbiddenError(right, reason);
  }
}

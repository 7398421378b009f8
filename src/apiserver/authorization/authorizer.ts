import type { User } from '../contracts/user.js';

/** An action on a resource or a path, as RBAC and access reviews see it. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the attributes of an action; parts that are not given are empty, the version is any. */
export function resourceRight(
  user: User,
  verb: string,
  part: Partial<Omit<ResourceAttributes, 'user' | 'verb'>>,
): ResourceAttributes {
  return { user, verb, group: '', version: '*', resource: '', subresource: '', namespace: '', name: '', ...part };
}

export interface PathAttributes {
  readonly user: User;
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** The rule that allowed it, or why it could not be decided; may be empty. */
  readonly reason: string;
}

/** Synchronous: rules are read from the watch caches. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

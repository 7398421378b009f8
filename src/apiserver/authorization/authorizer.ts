import type { User } from '../contracts/user.js';

/** What is asked for, as RBAC and access reviews see it. */
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

export interface PathAttributes {
  readonly user: User;
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** Which rule allowed it; empty for a refusal that nobody gives a reason for. */
  readonly reason: string;
}

/** Synchronous: rules come from the watch caches. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

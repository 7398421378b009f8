import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import type { TokenAuthenticator } from '../authentication/token-authenticator.js';
import type { Authorizer } from '../authorization/authorizer.js';
import type { HeldRules } from '../authorization/rbac.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { User } from '../contracts/user.js';
import { type FieldProblem, formatProblems } from '../schema/validate.js';
import { goQuote } from '../values/go-quote.js';

/** Sources of the answers to reviews. */
export interface ReviewDependencies {
  readonly objects: ObjectReader;
  readonly authorizer: Authorizer;
  rulesFor(user: User, namespace: string): HeldRules;
  readonly authenticator: TokenAuthenticator;
  readonly tokens: ServiceAccountTokens;
}

export interface ReviewRequest {
  /** As sent, in the version of the path. Not changed by handlers. */
  readonly object: JsonObject;
  readonly user: User;
  /** From the path; empty if it has none. */
  readonly namespace: string;
  /** From the path: the object whose subresource is requested; empty without. */
  readonly name: string;
  /** Runs validating admission on the completed object; awaited before the answer. */
  admit(object: JsonObject): Promise<void>;
}

/** Answers the creation of an object that is never stored. Throws StatusError. */
export type ReviewHandler = (request: ReviewRequest, dependencies: ReviewDependencies) => Promise<JsonObject>;

/** `kind` is empty where kube-apiserver has forgotten it by the time it finds the problems. */
export function invalid(
  what: { readonly group: string; readonly kind: string; readonly name: string },
  problems: readonly FieldProblem[],
): StatusError {
  const { group, kind, name } = what;
  const message = `${kind}.${group} ${goQuote(name)} is invalid: ${formatProblems(problems)}`;
  return new StatusError('Invalid', message, {
    ...(name === '' ? {} : { name }),
    group,
    ...(kind === '' ? {} : { kind }),
    causes: problems,
  });
}

export function invalidField(field: string, value: unknown, problem: string): FieldProblem {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${problem}`, field };
}

export function requiredField(field: string, problem: string): FieldProblem {
  return { reason: 'FieldValueRequired', message: `Required value: ${problem}`, field };
}

export function forbiddenField(field: string, problem: string): FieldProblem {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${problem}`, field };
}

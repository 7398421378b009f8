import { bearerCredential } from '../../http/bearer.js';
import type { Exchange } from '../../http/exchange.js';
import { StatusError } from '../../kube/status-error.js';
import { type CallerRightsOptions, callerName, rightToPath } from './caller-rights.js';

/** A right to a path of Straddle's own, with the sentences of its refusals. */
export interface RightAsked {
  readonly path: string;
  readonly verb: string;
  readonly forbidden: string;
  readonly unanswered: (why: string) => string;
}

/**
 * Returns the name of a caller that the API server allows what is asked; never of an anonymous one. Throws the refusal for any
 * other: 401, 403, or 503 if the API server cannot be asked.
 */
export async function allowedCaller(
  exchange: Exchange,
  asked: RightAsked,
  options: CallerRightsOptions,
): Promise<string> {
  const { path, verb, forbidden, unanswered } = asked;
  if (exchange.identity.kind === 'carried' && bearerCredential(exchange) === undefined) throw anonymous();
  const right = await rightToPath(exchange, { path, verb }, options);
  if (right.kind === 'unanswered') throw new StatusError('ServiceUnavailable', unanswered(right.why));
  if (right.kind === 'denied') throw new StatusError('Forbidden', forbidden);
  return knownCaller(exchange, asked, options);
}

/**
 * Returns the name of the caller that the API server has judged. It is asked for the name where it alone knows it: it may
 * treat a credential that it does not understand as anonymous, and an administrator may impersonate anybody.
 */
async function knownCaller(
  exchange: Exchange,
  { unanswered }: RightAsked,
  options: CallerRightsOptions,
): Promise<string> {
  const { identity } = exchange;
  if (identity.kind === 'established' && !isImpersonated(exchange)) return notAnonymous(identity.user, identity.groups);
  const caller = await callerName(exchange, options);
  if (caller.kind === 'named') return notAnonymous(caller.user, caller.groups);
  if (caller.kind === 'unanswered') throw new StatusError('ServiceUnavailable', unanswered(caller.why));
  const message =
    'forbidden: the API server does not say who this caller is (SelfSubjectReview); use a client certificate';
  throw new StatusError('Forbidden', message);
}

function notAnonymous(user: string, groups: readonly string[]): string {
  if (user === 'system:anonymous' || groups.includes('system:unauthenticated')) throw anonymous();
  return user;
}

function isImpersonated({ headers }: Exchange): boolean {
  return headers.some((name, i) => i % 2 === 0 && name.toLowerCase().startsWith('impersonate-'));
}

function anonymous(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized');
}

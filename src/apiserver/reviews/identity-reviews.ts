import { authorizationBearer } from '../../http/bearer.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import { TokenError } from '../authentication/token-error.js';
import { text } from '../authorization/policy-rule.js';
import type { ReviewDependencies, ReviewHandler } from './review.js';
import { part, pick, texts, typeOf, userInfo } from './review-object.js';

/** Who am I? */
export const selfSubjectReview: ReviewHandler = async ({ object, user, admit }, { tokens }) => {
  await admit(object);
  return {
    ...typeOf(object),
    metadata: { creationTimestamp: timestamp(tokens.nowMs) },
    status: { userInfo: userInfo(user) },
  };
};

/** Whose token is this? */
export const tokenReview: ReviewHandler = async ({ object, admit }, dependencies) => {
  const spec = part(object, 'spec') ?? {};
  const token = text(spec, 'token');
  if (token === '') throw new StatusError('BadRequest', 'token is required for TokenReview in authentication');
  await admit(object);
  return {
    ...typeOf(object),
    metadata: pick(part(object, 'metadata') ?? {}, METADATA_KEYS),
    spec: pick(spec, ['token', 'audiences']),
    status: tokenStatus(token, texts(spec, 'audiences'), dependencies),
  };
};

/** What a client may have set and gets back. */
const METADATA_KEYS = ['name', 'generateName', 'labels', 'annotations'];

function tokenStatus(token: string, wanted: readonly string[], { authenticator }: ReviewDependencies): JsonObject {
  const audiences = wanted.length > 0 ? wanted : authenticator.apiAudiences;
  // Read as it would be from a request: what comes after a space is not part of it.
  const sent = authorizationBearer(`Bearer ${token}`);
  if (sent === undefined) return { user: {} };
  try {
    const answer = authenticator.authenticate(sent, audiences);
    const matching = answer.audiences.length > 0 ? { audiences: [...answer.audiences] } : {};
    return { authenticated: true, user: userInfo(answer.user), ...matching };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return { user: {}, error: error.message };
  }
}

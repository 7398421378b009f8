import { authorizationBearer } from '../../http/bearer.js';
import { child, text, texts } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import { TokenError } from '../authentication/token-error.js';
import type { ReviewDependencies, ReviewHandler } from './review.js';
import { pick, typeOf, userInfo } from './review-object.js';

/** Returns the user of the request. */
export const selfSubjectReview: ReviewHandler = async ({ object, user, admit }, { tokens }) => {
  await admit(object);
  return {
    ...typeOf(object),
    metadata: { creationTimestamp: timestamp(tokens.nowMs) },
    status: { userInfo: userInfo(user) },
  };
};

/** Returns the user of a token. */
export const tokenReview: ReviewHandler = async ({ object, admit }, dependencies) => {
  const spec = child(object, 'spec') ?? {};
  const token = text(spec, 'token');
  if (token === '') throw new StatusError('BadRequest', 'token is required for TokenReview in authentication');
  await admit(object);
  return {
    ...typeOf(object),
    metadata: pick(child(object, 'metadata') ?? {}, METADATA_KEYS),
    spec: pick(spec, ['token', 'audiences']),
    status: tokenStatus(token, texts(spec, 'audiences'), dependencies),
  };
};

/** Metadata of the client that the answer repeats. */
const METADATA_KEYS = ['name', 'generateName', 'labels', 'annotations'];

function tokenStatus(token: string, wanted: readonly string[], { authenticator }: ReviewDependencies): JsonObject {
  const audiences = wanted.length > 0 ? wanted : authenticator.apiAudiences;
  // Parsed like the field of a request: a space ends the token.
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

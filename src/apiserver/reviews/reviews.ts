import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.js';
import { selfSubjectReview, tokenReview } from './identity-reviews.js';
import type { ReviewHandler } from './review.js';
import { tokenRequest } from './token-request.js';

export type { ReviewDependencies, ReviewHandler, ReviewRequest } from './review.js';

/** Handlers of POST, by `group/resource` or `/resource/subresource`; all reply 201. */
export const reviews: ReadonlyMap<string, ReviewHandler> = new Map([
  ['authentication.k8s.io/tokenreviews', tokenReview],
  ['authentication.k8s.io/selfsubjectreviews', selfSubjectReview],
  ['authorization.k8s.io/subjectaccessreviews', subjectAccessReview],
  ['authorization.k8s.io/localsubjectaccessreviews', localSubjectAccessReview],
  ['authorization.k8s.io/selfsubjectaccessreviews', selfSubjectAccessReview],
  ['authorization.k8s.io/selfsubjectrulesreviews', selfSubjectRulesReview],
  ['/serviceaccounts/token', tokenRequest],
]);

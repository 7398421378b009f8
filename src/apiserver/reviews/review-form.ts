import { isObject, type JsonObject } from '../../kube/json.js';

/** Statuses of new reviews, by kind. */
const STATUSES: Readonly<Record<string, JsonObject>> = {
  SelfSubjectAccessReview: { allowed: false },
  SubjectAccessReview: { allowed: false },
  LocalSubjectAccessReview: { allowed: false },
  SelfSubjectRulesReview: { resourceRules: null, nonResourceRules: null, incomplete: false },
  SelfSubjectReview: { userInfo: {} },
  TokenReview: { user: {} },
  TokenRequest: { token: '', expirationTimestamp: null },
};

const TOKEN_REQUEST_SPEC: JsonObject = { audiences: null, expirationSeconds: 3600, boundObjectRef: null };

/** Returns a review as the first admission plugin gets it: with defaults and an empty status. */
export function reviewForm(kind: string, sent: JsonObject): JsonObject {
  const { spec: sentSpec, status: _, ...rest } = sent;
  const spec = isObject(sentSpec) ? sentSpec : {};
  const status = STATUSES[kind] ?? {};
  // A SelfSubjectReview has no spec.
  if (kind === 'SelfSubjectReview') return { ...rest, status };
  const filled = kind === 'TokenRequest' ? { ...TOKEN_REQUEST_SPEC, ...spec } : (sentSpec ?? {});
  return { ...rest, spec: filled, status };
}

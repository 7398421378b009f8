import { isObject, type Json, type JsonObject } from '../../../kube/json.js';
import type { AdmissionRequest } from '../admission.js';
import { type Invocation, kindOf } from './invocation.js';
import type { VersionedObjects } from './review-versions.js';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The first version on the webhook's list that this server speaks. */
export function reviewVersion(accepted: readonly string[]): ReviewVersion | undefined {
  return accepted.find((each) => each === 'v1' || each === 'v1beta1') as ReviewVersion | undefined;
}

/** All of a review's request but its uid and the objects. */
export function reviewRequest(
  request: AdmissionRequest,
  { type, kind }: Pick<Invocation, 'type' | 'kind'>,
): JsonObject {
  const { user, subresource } = request;
  const asked = kindOf(request.type, subresource) ?? request.type;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: type.group, version: type.version, resource: type.resource },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group: asked.group, version: asked.version, kind: asked.kind },
    requestResource: {
      group: request.type.group,
      version: request.type.version,
      resource: request.type.resource,
    },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(request.name === '' ? {} : { name: request.name }),
    ...(request.namespace === '' ? {} : { namespace: request.namespace }),
    operation: request.operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
      ...(user.extra.size === 0
        ? {}
        : { extra: Object.fromEntries([...user.extra].map(([key, values]) => [key, [...values]])) }),
    },
    dryRun: request.dryRun,
    options: request.options,
  };
}

export interface ReviewParts {
  readonly uid: string;
  readonly version: ReviewVersion;
  readonly objects: VersionedObjects;
}

export function admissionReview(request: AdmissionRequest, invocation: Invocation, parts: ReviewParts): JsonObject {
  const { uid, version, objects } = parts;
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...reviewRequest(request, invocation), ...objects },
  };
}

/** What a webhook answered, checked. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  /** Decoded text; empty for none. */
  readonly patch: string;
  readonly patchType: string;
}

/** An answer that breaks the rules of reviews. The message says how, in kube-apiserver's words. */
export class ReviewResponseError extends Error {}

export function verifyReview(review: JsonObject, asked: ReviewParts, mutating: boolean): ReviewResponse {
  const response = review['response'];
  if (!isObject(response)) throw new ReviewResponseError('webhook response was absent');
  const patch = typeof response['patch'] === 'string' ? Buffer.from(response['patch'], 'base64').toString() : '';
  const patchType = response['patchType'];
  if (asked.version === 'v1') {
    verifyIdentity(review, response, asked.uid);
    verifyPatch(patch, patchType ?? undefined, mutating);
  }
  const isOld = asked.version === 'v1beta1';
  return {
    allowed: response['allowed'] === true,
    result: isObject(response['status']) ? response['status'] : undefined,
    warnings: Array.isArray(response['warnings'])
      ? response['warnings'].filter((each) => typeof each === 'string')
      : [],
    patch: mutating ? patch : '',
    patchType: isOld ? 'JSONPatch' : typeof patchType === 'string' ? patchType : '',
  };
}

function verifyIdentity(review: JsonObject, response: JsonObject, uid: string): void {
  const answered = typeof response['uid'] === 'string' ? response['uid'] : '';
  if (answered !== uid) {
    throw new ReviewResponseError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`);
  }
  const [apiVersion, kind] = [String(review['apiVersion'] ?? ''), String(review['kind'] ?? '')];
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const got = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw new ReviewResponseError(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}, Kind=${kind}`,
    );
  }
}

function verifyPatch(patch: string, patchType: Json | undefined, mutating: boolean): void {
  const fail = (problem: string): never => {
    throw new ReviewResponseError(problem);
  };
  if (!mutating) {
    if (patch !== '') fail('validating webhook may not return response.patch');
    if (patchType !== undefined) fail('validating webhook may not return response.patchType');
    return;
  }
  if (patch !== '' && patchType === undefined) fail('webhook returned response.patch but not response.patchType');
  if (patch === '' && patchType !== undefined) fail('webhook returned response.patchType but not response.patch');
  if (patchType === '') fail('webhook returned invalid response.patchType of ""');
}

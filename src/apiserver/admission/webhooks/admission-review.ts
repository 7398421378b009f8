import { child, text, texts } from '../../../kube/fields.js';
import { isObject, type Json, type JsonObject } from '../../../kube/json.js';
import { userInfo } from '../../reviews/review-object.js';
import type { AdmissionRequest, AdmissionType } from '../admission.js';
import { type Invocation, kindOf } from './invocation.js';
import type { VersionedObjects } from './review-versions.js';

export type ReviewVersion = 'v1' | 'v1beta1';

/** Returns the first version of the webhook's list that is implemented here. */
export function reviewVersion(accepted: readonly string[]): ReviewVersion | undefined {
  return accepted.find((each) => each === 'v1' || each === 'v1beta1') as ReviewVersion | undefined;
}

/** Makes the request of a review without its uid and objects. */
export function reviewRequest(
  request: AdmissionRequest,
  { type, kind }: Pick<Invocation, 'type' | 'kind'>,
): JsonObject {
  const { subresource } = request;
  const asked = kindOf(request.type, subresource) ?? request.type;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: resourceOf(type),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group: asked.group, version: asked.version, kind: asked.kind },
    requestResource: resourceOf(request.type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(request.name === '' ? {} : { name: request.name }),
    ...(request.namespace === '' ? {} : { namespace: request.namespace }),
    operation: request.operation,
    userInfo: userInfo(request.user),
    dryRun: request.dryRun,
    options: request.options,
  };
}

function resourceOf({ group, version, resource }: AdmissionType): JsonObject {
  return { group, version, resource };
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

/** The verified answer of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  /** Decoded text; empty for none. */
  readonly patch: string;
  readonly patchType: string;
}

/** An answer that violates the rules of reviews. The message is kube-apiserver's. */
export class ReviewResponseError extends Error {}

export function verifyReview(review: JsonObject, asked: ReviewParts, mutating: boolean): ReviewResponse {
  const response = review['response'];
  if (!isObject(response)) throw new ReviewResponseError('webhook response was absent');
  const patch = Buffer.from(text(response, 'patch'), 'base64').toString();
  const patchType = response['patchType'];
  if (asked.version === 'v1') {
    verifyIdentity(review, response, asked.uid);
    verifyPatch(patch, patchType ?? undefined, mutating);
  }
  return {
    allowed: response['allowed'] === true,
    result: child(response, 'status'),
    warnings: texts(response, 'warnings'),
    patch: mutating ? patch : '',
    patchType: asked.version === 'v1beta1' ? 'JSONPatch' : text(response, 'patchType'),
  };
}

function verifyIdentity(review: JsonObject, response: JsonObject, uid: string): void {
  const answered = text(response, 'uid');
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

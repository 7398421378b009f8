import { randomUUID } from 'node:crypto';
import { formatHostPort, hostPortOf } from '../../../base/address.js';
import { child, number, text } from '../../../kube/fields.js';
import type { JsonObject } from '../../../kube/json.js';
import { decodedBundle, resolveService, serverNameOf } from '../../aggregation/service-address.js';
import type { OutboundAnswer, OutboundTarget } from '../../outbound/outbound.js';
import type { AdmissionRequest } from '../admission.js';
import {
  admissionReview,
  type ReviewParts,
  type ReviewResponse,
  ReviewResponseError,
  reviewVersion,
  verifyReview,
} from './admission-review.js';
import { decodeAnswer } from './decode-answer.js';
import type { Invocation } from './invocation.js';
import type { ReviewVersions } from './review-versions.js';
import type { Webhook } from './webhook.js';
import type { WebhookDeps } from './webhook-deps.js';
import { dryRunUnsupported, internalError, rejection, WebhookCallError } from './webhook-errors.js';

/** Bound on `timeoutSeconds`, for objects that were stored without validation. */
const TIMEOUT_SECONDS_MAX = 30;
const SERVICE_PORT = 443;

interface WebhookCall {
  readonly request: AdmissionRequest;
  readonly invocation: Invocation;
  readonly versions: ReviewVersions;
  readonly mutating: boolean;
}

/**
 * Runs `work`, which calls a webhook. A WebhookCallError is logged or becomes an internal error, by
 * the failure policy.
 */
export async function byFailurePolicy(deps: WebhookDeps, webhook: Webhook, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    if (webhook.failurePolicy !== 'Ignore') throw internalError(error.message);
    deps.logger.warn('a webhook failed and is passed over', { webhook: webhook.name, error: error.message });
  }
}

/**
 * Calls a webhook and returns its response if it allowed the request. Throws WebhookCallError if it
 * could not be called or its answer is malformed, StatusError if it refuses.
 */
export async function callWebhook(deps: WebhookDeps, call: WebhookCall): Promise<ReviewResponse> {
  const { request, invocation, versions, mutating } = call;
  const { webhook } = invocation;
  if (request.dryRun) checkDryRun(webhook);
  const version = reviewVersion(webhook.admissionReviewVersions);
  if (version === undefined) {
    throw failure(
      webhook,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const parts: ReviewParts = { uid: randomUUID(), version, objects: await versions.in(invocation.type) };
  const review = await post(deps, webhook, admissionReview(request, invocation, parts), parts);
  const response = verified(webhook, review, parts, mutating);
  for (const warning of response.warnings) request.warn(warning);
  if (!response.allowed) throw rejection(webhook.name, response.result);
  return response;
}

/** Throws for a webhook that may have side effects in a dry run. */
function checkDryRun(webhook: Webhook): void {
  if (webhook.sideEffects === undefined) throw failure(webhook, 'Webhook SideEffects is nil');
  if (webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') throw dryRunUnsupported(webhook.name);
}

function verified(webhook: Webhook, review: JsonObject, parts: ReviewParts, mutating: boolean): ReviewResponse {
  try {
    return verifyReview(review, parts, mutating);
  } catch (error) {
    if (!(error instanceof ReviewResponseError)) throw error;
    throw failure(webhook, `received invalid webhook response: ${error.message}`);
  }
}

async function post(deps: WebhookDeps, webhook: Webhook, review: JsonObject, parts: ReviewParts): Promise<JsonObject> {
  const endpoint = endpointOf(webhook);
  const timeoutSeconds = Math.min(Math.max(webhook.timeoutSeconds, 1), TIMEOUT_SECONDS_MAX);
  const path = `${endpoint.path}?timeout=${timeoutSeconds}s`;
  const request = {
    method: 'POST',
    path,
    headers: HEADERS,
    body: Buffer.from(JSON.stringify(review)),
    timeoutMs: timeoutSeconds * 1000,
  };
  let answer: OutboundAnswer;
  try {
    answer = await deps.outbound.call(targetOf(deps, webhook, endpoint), request);
  } catch (error) {
    const why = `Post "https://${endpoint.authority}${path}": ${(error as Error).message}`;
    throw failure(webhook, `failed to call webhook: ${why}`);
  }
  try {
    return decodeAnswer(answer, parts.version);
  } catch (error) {
    throw failure(webhook, `failed to call webhook: ${(error as Error).message}`);
  }
}

const HEADERS = [
  ...['Content-Type', 'application/json', 'Accept', 'application/json, */*'],
  ...['User-Agent', 'straddle-admission'],
];

interface Endpoint {
  /** host, and port where one is given, as errors show it. */
  readonly authority: string;
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
}

function endpointOf(webhook: Webhook): Endpoint {
  const { url } = webhook.clientConfig;
  const service = child(webhook.clientConfig, 'service');
  if (service) {
    const reference = { namespace: text(service, 'namespace'), name: text(service, 'name') };
    const port = number(service, 'port') ?? SERVICE_PORT;
    const host = serverNameOf(reference);
    return { authority: `${host}:${port}`, path: cleanPath(service['path']), host, port, service: reference };
  }
  if (typeof url !== 'string' || url === '') {
    throw failure(webhook, 'could not get REST client: webhook configuration must have either service or URL');
  }
  try {
    const parsed = new URL(url);
    if (parsed.protocol !== 'https:') throw new Error(`unsupported scheme ${parsed.protocol}`);
    const path = cleanPath(parsed.pathname);
    return { ...hostPortOf(parsed), authority: parsed.host, path, service: undefined };
  } catch (error) {
    throw failure(webhook, `could not get REST client: Unparsable URL: ${(error as Error).message}`);
  }
}

function targetOf(deps: WebhookDeps, webhook: Webhook, { host, port, service }: Endpoint): OutboundTarget {
  const caBundle = decodedBundle(text(webhook.clientConfig, 'caBundle'));
  if (service) return { ...resolveService(deps.objects, { ...service, port }), caBundle };
  return { address: formatHostPort({ host, port }), serverName: host, caBundle };
}

function cleanPath(path: unknown): string {
  const parts = typeof path === 'string' ? path.split('/').filter((part) => part !== '' && part !== '.') : [];
  return `/${parts.join('/')}`;
}

function failure(webhook: Webhook, reason: string): WebhookCallError {
  return new WebhookCallError(webhook.name, reason);
}

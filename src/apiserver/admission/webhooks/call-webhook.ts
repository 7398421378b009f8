import { randomUUID } from 'node:crypto';
import { formatHostPort, hostPortOf } from '../../../base/address.js';
import { isObject, type JsonObject } from '../../../kube/json.js';
import { resolveService, serverNameOf } from '../../aggregation/service-address.js';
import type { OutboundTarget } from '../../outbound/outbound.js';
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
import { dryRunUnsupported, rejection, WebhookCallError } from './webhook-errors.js';

/** The API bounds `timeoutSeconds`; this bounds what was written past it. */
const TIMEOUT_SECONDS_MAX = 30;
const SERVICE_PORT = 443;

export interface WebhookCall {
  readonly request: AdmissionRequest;
  readonly invocation: Invocation;
  readonly versions: ReviewVersions;
  readonly mutating: boolean;
}

/**
 * Asks a webhook and returns what it said when it allowed the request. Throws WebhookCallError when it can't be asked or
 * understood, StatusError when it refuses.
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

/** A dry run must leave no trace, so a webhook that may leave one is not asked, and the request fails. */
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
  const answer = await send().catch((error: Error) => {
    throw failure(webhook, `failed to call webhook: Post "https://${endpoint.authority}${path}": ${error.message}`);
  });
  try {
    return decodeAnswer(answer, parts.version);
  } catch (error) {
    throw failure(webhook, `failed to call webhook: ${(error as Error).message}`);
  }

  async function send() {
    return deps.outbound.call(targetOf(deps, webhook, endpoint), {
      method: 'POST',
      path,
      headers: [
        'Content-Type',
        'application/json',
        'Accept',
        'application/json, */*',
        'User-Agent',
        'straddle-admission',
      ],
      body: Buffer.from(JSON.stringify(review)),
      timeoutMs: timeoutSeconds * 1000,
    });
  }
}

interface Endpoint {
  /** host, and port where one is given, as errors show it. */
  readonly authority: string;
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
}

function endpointOf(webhook: Webhook): Endpoint {
  const { service, url } = webhook.clientConfig;
  if (isObject(service)) {
    const reference = { namespace: String(service['namespace'] ?? ''), name: String(service['name'] ?? '') };
    const port = typeof service['port'] === 'number' ? service['port'] : SERVICE_PORT;
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
  const { caBundle } = webhook.clientConfig;
  const trust = {
    caBundle: typeof caBundle === 'string' && caBundle !== '' ? Buffer.from(caBundle, 'base64').toString() : undefined,
  };
  if (service) return { ...resolveService(deps.objects, { ...service, port }), ...trust };
  return { address: formatHostPort({ host, port }), serverName: host, ...trust };
}

function cleanPath(path: unknown): string {
  const parts = typeof path === 'string' ? path.split('/').filter((part) => part !== '' && part !== '.') : [];
  return `/${parts.join('/')}`;
}

function failure(webhook: Webhook, reason: string): WebhookCallError {
  return new WebhookCallError(webhook.name, reason);
}

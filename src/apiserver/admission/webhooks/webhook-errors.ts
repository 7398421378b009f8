import { isObject, type JsonObject } from '../../../kube/json.js';
import type { Status } from '../../../kube/status.js';
import { StatusError } from '../../../kube/status-error.js';

/** A webhook could not be asked, or its answer can't be used: what `failurePolicy` is about. */
export class WebhookCallError extends Error {
  constructor(webhookName: string, reason: string) {
    super(`failed calling webhook ${JSON.stringify(webhookName)}: ${reason}`);
    this.name = 'WebhookCallError';
  }
}

/** As kube-apiserver words whatever it did not expect. */
export function internalError(message: string): StatusError {
  return statusError({
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
}

/** An error that kube-apiserver gives no reason for. */
export function unexplainedError(message: string): StatusError {
  return statusError({ message, code: 500 });
}

/** What the webhook said becomes the answer, with its own code and reason; a denial without a code is a bad request. */
export function rejection(webhookName: string, result: JsonObject | undefined): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(webhookName)} denied the request`;
  const given = result ?? {};
  const message = text(given['message']);
  const reason = text(given['reason']);
  const code = typeof given['code'] === 'number' && given['code'] >= 400 ? given['code'] : 400;
  const because = message || reason;
  return statusError({
    message: because === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${because}`,
    ...(reason === '' ? {} : { reason }),
    ...(isObject(given['details']) ? { details: given['details'] } : {}),
    code,
  });
}

export function dryRunUnsupported(webhookName: string): StatusError {
  return new StatusError('BadRequest', `admission webhook ${JSON.stringify(webhookName)} does not support dry run`);
}

/** StatusError names only the reasons that Straddle itself gives; webhooks invent their own, or none. */
function statusError(answer: JsonObject): StatusError {
  const error = new StatusError('InternalError', String(answer['message']));
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...answer };
  Object.defineProperty(error, 'status', { value: status as unknown as Status, enumerable: true });
  const seconds = isObject(answer['details']) ? answer['details']['retryAfterSeconds'] : undefined;
  if (typeof seconds === 'number') Object.defineProperty(error, 'retryAfterSeconds', { value: seconds });
  return error;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

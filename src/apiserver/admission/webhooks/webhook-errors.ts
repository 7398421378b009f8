import { child, text } from '../../../kube/fields.js';
import { isObject, type JsonObject } from '../../../kube/json.js';
import type { Status } from '../../../kube/status.js';
import { StatusError } from '../../../kube/status-error.js';

/** A webhook could not be called, or its answer is malformed. `failurePolicy` decides about it. */
export class WebhookCallError extends Error {
  constructor(webhookName: string, reason: string) {
    super(`failed calling webhook ${JSON.stringify(webhookName)}: ${reason}`);
    this.name = 'WebhookCallError';
  }
}

/** kube-apiserver's answer to unexpected errors. */
export function internalError(message: string): StatusError {
  return statusError({
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
}

/** An error for which kube-apiserver gives no reason. */
export function unexplainedError(message: string): StatusError {
  return statusError({ message, code: 500 });
}

/** Returns the webhook's refusal, with its code and reason; the default code is 400. */
export function rejection(webhookName: string, result: JsonObject | undefined): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(webhookName)} denied the request`;
  const given = result ?? {};
  const message = text(given, 'message');
  const reason = text(given, 'reason');
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

/** Makes a StatusError with any reason, or none: those of webhooks are free text. */
function statusError(answer: JsonObject): StatusError {
  const error = new StatusError('InternalError', String(answer['message']));
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...answer };
  Object.defineProperty(error, 'status', { value: status as unknown as Status, enumerable: true });
  const seconds = child(answer, 'details')?.['retryAfterSeconds'];
  if (typeof seconds === 'number') Object.defineProperty(error, 'retryAfterSeconds', { value: seconds });
  return error;
}

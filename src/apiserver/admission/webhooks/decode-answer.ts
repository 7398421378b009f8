import { headerValue } from '../../../http/headers.js';
import { text } from '../../../kube/fields.js';
import {
  isDeeperThan,
  isObject,
  JSON_LEVELS_MAX,
  type Json,
  type JsonObject,
  parsedObject,
} from '../../../kube/json.js';
import type { OutboundAnswer } from '../../outbound/outbound.js';
import { goJsonKind } from '../../values/go-text.js';
import type { ReviewVersion } from './admission-review.js';

/** A webhook's answer that is not a review. The message is that of kube-apiserver's client. */
export class WebhookAnswerError extends Error {}

/** Bound on the part of a plain-text answer that an error repeats. */
const REPEATED_BYTES_MAX = 2048;
const GO_TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export function decodeAnswer(answer: OutboundAnswer, version: ReviewVersion): JsonObject {
  if (answer.status < 200 || answer.status > 206) throw new WebhookAnswerError(failureText(answer));
  if (answer.body.byteLength === 0) {
    const type = headerValue(answer.headers, 'content-type') ?? 'application/json';
    throw new WebhookAnswerError(`0-length response with status code: ${answer.status} and content type: ${type}`);
  }
  const document = parse(answer.body.toString());
  if (!isObject(document)) {
    throw new WebhookAnswerError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goJsonKind(document)} into Go value of type ${GO_TYPE_META}`,
    );
  }
  checkKind(document, version);
  checkResponse(document['response']);
  return document;
}

function parse(text: string): Json {
  let document: Json;
  try {
    document = JSON.parse(text) as Json;
  } catch {
    // kube-apiserver parses other texts as YAML, in which any word is a string.
    if (/^\s*[[{]/.test(text)) {
      throw new WebhookAnswerError(`couldn't get version/kind; json parse error: ${goSyntaxProblem(text)}`);
    }
    return text;
  }
  if (isDeeperThan(document, JSON_LEVELS_MAX)) throw new WebhookAnswerError('exceeded max depth');
  return document;
}

/** Returns Go's message for malformed JSON, which differs for a text that ends too early. */
export function goSyntaxProblem(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    const message = (error as Error).message;
    if (
      /end of JSON input|Unterminated string|after (array element|property (name|value))|Expected property name/.test(
        message,
      ) &&
      endsEarly(text, message)
    ) {
      return 'unexpected end of JSON input';
    }
    const at = /at position (\d+)/.exec(message)?.[1];
    const character = at === undefined ? '' : (text[Number(at)] ?? '');
    return character === '' ? 'unexpected end of JSON input' : `invalid character '${character}' in JSON input`;
  }
}

function endsEarly(text: string, message: string): boolean {
  const at = /at position (\d+)/.exec(message)?.[1];
  return at === undefined || Number(at) >= text.trimEnd().length;
}

function checkKind(document: JsonObject, version: ReviewVersion): void {
  const apiVersion = String(document['apiVersion'] ?? '');
  const kind = String(document['kind'] ?? '');
  // Without either, the answer counts as a review of the requested version.
  if (apiVersion === '' || kind === '') return;
  if (apiVersion === `admission.k8s.io/${version}` && kind === 'AdmissionReview') return;
  const isReview = kind === 'AdmissionReview' && /^admission\.k8s\.io\/v1(beta1)?$/.test(apiVersion);
  if (isReview || (apiVersion === 'v1' && kind === 'Status')) {
    const given = `${apiVersion.split('/').at(-1)}.${kind}`;
    throw new WebhookAnswerError(`converting (${given}) to (${version}.AdmissionReview): unknown conversion`);
  }
  throw new WebhookAnswerError(
    `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

const RESPONSE_FIELDS: Readonly<Record<string, { readonly is: (value: Json) => boolean; readonly goType: string }>> = {
  uid: { is: (value) => typeof value === 'string', goType: 'types.UID' },
  allowed: { is: (value) => typeof value === 'boolean', goType: 'bool' },
  status: { is: isObject, goType: 'v1.Status' },
  patch: { is: (value) => typeof value === 'string', goType: '[]uint8' },
  patchType: { is: (value) => typeof value === 'string', goType: 'v1.PatchType' },
  warnings: { is: (value) => Array.isArray(value), goType: '[]string' },
};

function checkResponse(response: Json | undefined): void {
  if (!isObject(response)) return;
  for (const [name, { is, goType }] of Object.entries(RESPONSE_FIELDS)) {
    const value = response[name];
    if (value === undefined || value === null || is(value)) continue;
    throw new WebhookAnswerError(
      `json: cannot unmarshal ${goJsonKind(value)} into Go struct field AdmissionResponse.response.${name} of type ${goType}`,
    );
  }
}

function failureText(answer: OutboundAnswer): string {
  const body = answer.body.toString('utf8', 0, Math.min(answer.body.byteLength, REPEATED_BYTES_MAX));
  const status = statusMessage(answer.body);
  if (status !== undefined) return status;
  const type = headerValue(answer.headers, 'content-type') ?? '';
  const said = type === '' || type.startsWith('text/') ? body.trim() : 'unknown';
  const fixed = FAILURE_TEXTS[answer.status];
  if (fixed !== undefined) return fixed;
  if (answer.status === 403 || answer.status === 415) return said;
  if (answer.status === 406) {
    return said === '' || said === 'unknown'
      ? 'the server was unable to respond with a content type that the client supports'
      : said;
  }
  return answer.status >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${answer.status} but did not return more information`;
}

const FAILURE_TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Returns the message of a failure that is a Status. */
function statusMessage(body: Buffer): string | undefined {
  const status = parsedObject(body.toString());
  return status['kind'] === 'Status' && status['status'] === 'Failure' ? text(status, 'message') : undefined;
}

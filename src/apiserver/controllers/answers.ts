import type { ApiAnswer } from '../../kube/client/api-client.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';

/** What a GET of one object has shown. */
export type Found =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Reads the answer to a GET of one object. Only a Status that names the very object says that it does not exist: a bare
 * 404 comes from a server that does not know the resource, and so says nothing about the object.
 */
export function readFound(answer: ApiAnswer, name: string): Found {
  if (answer.status === 200) {
    const uid = metadataOf(answer.body)['uid'];
    if (typeof uid === 'string' && uid !== '') return { kind: 'present', object: answer.body };
    return { kind: 'unknown', why: 'the answer is not an object' };
  }
  if (isDefinitelyAbsent(answer, name)) return { kind: 'absent' };
  const message = answer.body['message'];
  return { kind: 'unknown', why: `${answer.status}${typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''}` };
}

export function isDefinitelyAbsent({ status, body }: ApiAnswer, name: string): boolean {
  if (status !== 404 || body['kind'] !== 'Status' || body['reason'] !== 'NotFound') return false;
  const details = body['details'];
  return isObject(details) && details['name'] === name;
}

export function textOf(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === 'string' ? value : '';
}

export function textsOf(object: JsonObject, key: string): readonly string[] {
  const value = member(object, key);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
